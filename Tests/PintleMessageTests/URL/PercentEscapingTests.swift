// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleTesting
import Testing

@Suite struct PercentEscapingTests {
    @Test func `PCT-01 reserved characters are escaped but slash and question mark`() {
        #expect(
            PercentEscaping.escape(":#[]@!$&'()*+,;=?/")
                == "%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D?/")
    }

    @Test func `PCT-02 a leading space is escaped`() {
        #expect(
            PercentEscaping.escape(" :#[]@!$&'()*+,;=/?")
                == "%20%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D/?")
    }

    @Test func `PCT-03 escaped text is escaped again`() {
        #expect(
            PercentEscaping.escape("%20%21%22%23%24%25%26%27%28%29%2A%2B%2C%2F")
                == "%2520%2521%2522%2523%2524%2525%2526%2527%2528%2529%252A%252B%252C%252F")
    }

    @Test func `PCT-04 long runs of composed characters stay whole`() {
        let faces = "\u{1F474}\u{1F3FF}\u{1F477}\u{1F3FB}\u{1F46E}\u{1F3FD}"
        let escaped = "%F0%9F%91%B4%F0%9F%8F%BF%F0%9F%91%B7%F0%9F%8F%BB%F0%9F%91%AE%F0%9F%8F%BD"
        #expect(
            PercentEscaping.escape("!" + String(repeating: faces, count: 5))
                == "%21" + String(repeating: escaped, count: 5))
    }

    @Test(arguments: [("ä", "%C3%A4"), (" ", "%20"), ("\"<>\\^`{|}%", "%22%3C%3E%5C%5E%60%7B%7C%7D%25")])
    func `PCT-05 other characters are escaped as UTF-8`(plain: String, escaped: String) {
        #expect(PercentEscaping.escape(plain) == escaped)
    }

    @Test(arguments: ["AZaz09-._~/?", ""])
    func `PCT-06 unreserved characters and the empty text stay`(plain: String) {
        #expect(PercentEscaping.escape(plain) == plain)
    }

    @Test func `PCT-07 every string can be escaped and broken text shows when it is read back`() {
        let repaired = String(decoding: [0xED, 0xA0, 0x80], as: UTF8.self)
        #expect(PercentEscaping.escape(repaired) == "%EF%BF%BD%EF%BF%BD%EF%BF%BD")
        #expect(PercentEscaping.unescape("%ED%A0%80") as String? == nil)
        #expect(PercentEscaping.unescape("%FF") as String? == nil)
    }

    @Test(arguments: ["%", "%4", "%4g", "%-1", "a%", "%%41"])
    func `a broken escape is no text`(broken: String) {
        #expect(PercentEscaping.unescape(broken) as String? == nil)
    }

    @Test func `a plus is a space only in forms`() {
        #expect(PercentEscaping.unescape("a+b%2b") == "a+b+")
        #expect(PercentEscaping.unescape("a+b%2b", plusIsSpace: true) == "a b+")
    }

    @Test func `escaping and reading back is the identity`() {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<500 {
            let scalars = (0..<Int.random(in: 0...24, using: &random)).compactMap { _ in
                // Half of them are ASCII, where all the characters are that have a meaning.
                Unicode.Scalar(UInt32.random(in: 0...(Bool.random(using: &random) ? 0x7F : 0x10_FFFF), using: &random))
            }
            let plain = String(String.UnicodeScalarView(scalars))
            #expect(PercentEscaping.unescape(PercentEscaping.escape(plain)) == plain)
        }
    }
}
