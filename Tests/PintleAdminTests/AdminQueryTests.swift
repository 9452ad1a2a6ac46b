// SPDX-License-Identifier: Apache-2.0

import PintleSerialization
import Testing

@testable import PintleAdmin

struct AdminQueryTests {
    @Test(arguments: [
        ("", nil), ("filter=~c%205xx", "~c 5xx"), ("filter=a+b", "a b"), ("filter=", ""), ("filter", ""),
        ("x=1&filter=%C3%A4&filter=b", "ä"), ("filter=100%", "100%"), ("filter=%zz", "%zz"), ("filter=%FF", "\u{FFFD}"),
        ("filter=a=b", "a=b"),
    ])
    func `parameters are decoded`(query: String, expected: String?) {
        #expect(AdminQuery(query)["filter"] == expected)
    }

    @Test func `a fault of a filter has its place`() {
        #expect {
            try AdminQuery("filter=~c+5xx+~rout").filter()
        } throws: { error in
            let refusal = error as? AdminGate.Refusal
            return refusal?.status == 400 && refusal?.more.first?.1 == .integer(7)
        }
    }
}
