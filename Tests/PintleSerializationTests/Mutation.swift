// SPDX-License-Identifier: Apache-2.0

import PintleTesting

/// Small damage to a document, with characters that its grammar treats specially.
struct Mutation {
    let tokens: [[UInt8]]

    static let json = Mutation(
        tokens: [
            "[", "]", "{", "}", ",", ":", "\"", "\\", "\\u", "\\ud800", "\\udc00", "n", "t", "null", "0", "-", "1", ".",
            "e", "E+", " ", "\n", "\u{0}", "1e400", "é", "\u{FEFF}",
        ].map(bytes) + [[0x80], [0xC3], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xF0], [0xF4, 0x90, 0x80, 0x80], [0xFF]])

    static let xml = Mutation(
        tokens: [
            "<", ">", "/", "</", "/>", "=", "'", "\"", "&", ";", "&lt;", "&#65;", "&#x", "<!--", "-->", "--", "<?",
            "?>",
            "<![CDATA[", "]]>", "]", "<!DOCTYPE a", "a", "<a>", "</a>", " x='y'", " ", "\n", "\u{1}", "é", "\u{FFFE}",
            "<?xml version='1.0'?>", "-", "1",
        ].map(bytes) + [[0x80], [0xC3], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xFF]])

    func apply(to document: inout [UInt8], _ random: inout SeededGenerator) {
        let place = Int.random(in: 0...document.count, using: &random)
        switch Int.random(in: 0...5, using: &random) {
        case 0, 1: document.insert(contentsOf: self.tokens.randomElement(using: &random) ?? [], at: place)
        case 2 where place < document.count: document.remove(at: place)
        case 3 where place < document.count: document[place] = UInt8(truncatingIfNeeded: random.next())
        case 4:
            let end = Int.random(in: place...min(document.count, place + 8), using: &random)
            document.replaceSubrange(place..<end, with: self.tokens.randomElement(using: &random) ?? [])
        default: document.removeSubrange(place...)
        }
    }
}
