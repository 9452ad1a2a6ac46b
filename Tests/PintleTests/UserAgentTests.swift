// SPDX-License-Identifier: Apache-2.0

import Pintle
import Testing

struct UserAgentTests {
    @Test func `SER-REQ-15 the user agent has product, version and comment`() throws {
        #expect(
            DefaultFields.userAgent(product: "pintle", version: "1.0", comment: "Linux x86_64")
                == "pintle/1.0 (Linux x86_64)")
        let serializer = try HTTPRequestSerializer(preferredLanguages: ["de"], userAgent: "pintle/1.0")
        #expect(serializer.defaultFields == ["Accept-Language": "de;q=1", "User-Agent": "pintle/1.0"])
    }

    @Test func `SER-REQ-16 the user agent is transliterated to ASCII`() {
        #expect(DefaultFields.userAgent(product: "Привет", version: "1") == "Privet/1")
        #expect(DefaultFields.userAgent(product: "Bürö", version: "1", comment: "日本 😀\r\n") == "Buro/1 (ri ben )")
    }
}
