// SPDX-License-Identifier: Apache-2.0

import PintleSystem
import Testing

/// Texts of peers that `String` takes quadratic time for.
struct StreamSafeTextTests {
    private static let marks = (0..<500_000).reduce(into: "") { text, number in
        text.unicodeScalars.append(number.isMultiple(of: 2) ? "\u{301}" : "\u{323}")
    }

    @Test(arguments: ["", "plain", "Zürich, 東京, e\u{301}\u{323}", "a" + String(repeating: "\u{301}", count: 30)])
    func `usual texts stay as they are`(text: String) {
        #expect(text.isStreamSafe && text.streamSafe.utf8.elementsEqual(text.utf8))
        let long = String(repeating: text + " ", count: 20)
        #expect(long.isStreamSafe && long.streamSafe.utf8.elementsEqual(long.utf8))
    }

    @Test func `marks behind thirty in a row are replaced, and later ones stay`() {
        let text = "a" + String(repeating: "\u{301}", count: 32) + "b\u{301}"
        #expect(!text.isStreamSafe)
        let expected = "a" + String(repeating: "\u{301}", count: 30) + "\u{FFFD}\u{FFFD}b\u{301}"
        #expect(text.streamSafe.utf8.elementsEqual(expected.utf8))
    }

    /// Without the replacement each of these takes minutes.
    @Test func `a megabyte of marks is compared, hashed and searched like any other text`() {
        let text = ("a" + Self.marks).streamSafe
        #expect(text.isStreamSafe && text != "sig" && !text.hasPrefix("sig") && text.firstIndex(of: "=") == nil)
        #expect(Set(["a", "b"]).contains(text) == false)
    }
}
