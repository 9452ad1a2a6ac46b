// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import pintle

/// Lines that are too long for a terminal.
struct TerminalTextTests {
    @Test(arguments: [
        ("short", "short"), ("", ""), ("a\n\nb\n", "a\n\nb\n"),
        // A line that fits exactly is one.
        ("1234567890 1234567890 12345678", "1234567890 1234567890 12345678"),
        ("1234567890 1234567890 1234567890", "1234567890 1234567890\n  1234567890"),
        ("route     none of these is for the host", "route     none of these is for\n          the host"),
        ("  one two three four five six seven", "  one two three four five six\n    seven"),
        // Blanks within a line stay; those at a line break are removed.
        ("one  two three four five  six seven", "one  two three four five  six\n     seven"),
        ("https://a.example/very/long/path/indeed", "https://a.example/very/long/path/indeed"),
        (
            "see https://a.example/very/long/path/indeed for it",
            "see\n  https://a.example/very/long/path/indeed\n  for it"
        ),
        ("\u{1B}[31mdenied:\u{1B}[0m 1234567890 1234567890", "\u{1B}[31mdenied:\u{1B}[0m 1234567890 1234567890"),
    ])
    func `LOOK-109 a line breaks between words, and hangs under its text`(text: String, expected: String) {
        #expect(TerminalText(width: 30).wrapped(text) == expected)
    }

    @Test(arguments: [0, 1, 7, 20, 21, 22])
    func `LOOK-109 no width loses a word`(width: Int) {
        let text = "label        one two  three\n    four " + String(repeating: "x", count: 50) + " five"
        let words = { (text: String) in text.split { $0 == " " || $0 == "\n" } }
        #expect(words(TerminalText(width: width).wrapped(text)) == words(text))
    }
}
