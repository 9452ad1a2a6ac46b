// SPDX-License-Identifier: Apache-2.0

import PintleSystem
import Testing

/// Bytes of the system as text, there and back.
struct SystemTextTests {
    /// UTF-8, other bytes, truncated characters, invalid sequences, and the bytes of scalars that represent a byte.
    @Test(
        arguments: [
            [], Array("d/é/日本/\u{1F600}".utf8), [0xE9], [0x64, 0xE9, 0x70], [0xC3], [0xC3, 0xA9, 0xC3],
            [0xE6, 0x97, 0x2F],
            [0xF0, 0x9F, 0x98], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xFF, 0xFE],
            [0xF4, 0x8F, 0xBB, 0xA9], [0xF4, 0x8F, 0xBA, 0x80, 0xE9], [0xF4, 0x8F, 0xBD, 0xBF], Array(0x80...0xFF),
        ] as [[UInt8]])
    func `LOOK-86 all bytes come back as they were`(bytes: [UInt8]) {
        let text = String(systemBytes: bytes)
        #expect(text.systemBytes == bytes)
        #expect(text.withSystemText { String(systemText: $0) } == text)
    }

    @Test func `UTF-8 stays the text that it is`() {
        #expect(String(systemBytes: Array("é".utf8)) == "é" && !"é\u{10FFFD}".hasSystemBytes)
    }

    @Test func `two names that differ in a byte are two texts`() {
        #expect(String(systemBytes: [0xE9]) != String(systemBytes: [0xE8]))
    }

    @Test func `people see the bytes as numbers`() {
        let text = String(systemBytes: [0x64, 0xE9, 0x0A, 0x80])
        #expect(text.showingSystemBytes == "d\\xe9\n\\x80")
        // Backslashes are doubled for JSON, which this must not break.
        #expect(text.showable(keepingLines: false) == "d\\\\xe9\\u000a\\\\x80")
    }
}
