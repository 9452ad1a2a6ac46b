// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// Distinguishes words, which name a kind of thing, from identifiers, which name one of many things and may be secrets.
///
/// This is a guess: a text that looks like a word may still be a secret.
enum SegmentShape {
    /// The maximum length of a word, in bytes.
    private static let longestWord = 48
    /// The maximum length of a file extension that is kept.
    private static let longestExtension = 5

    /// Returns the pattern of a path segment: the segment itself, `*`, or `*.json`.
    ///
    /// Equal segments give equal patterns, and a segment with the pattern `*` never matches the `*.json` of another one.
    static func pattern(_ segment: Substring) -> String {
        if self.isPlain(segment.utf8), !self.isIdentifier(segment) { return String(segment) }
        guard let dot = segment.utf8.lastIndex(of: UInt8(ascii: ".")), dot != segment.startIndex else { return "*" }
        let ending = segment.utf8[segment.utf8.index(after: dot)...]
        let isExtension =
            (1...self.longestExtension).contains(ending.count) && ending.contains(where: self.isLetter)
            && ending.allSatisfy { self.isLetter($0) || ASCII.isDigit($0) }
        return isExtension ? "*.\(Substring(ending))" : "*"
    }

    /// True for a member's name that may appear in a schema; other names are treated as keys of a map.
    static func isName(_ key: String) -> Bool {
        let name = Substring(key.utf8.drop { "@$#".utf8.contains($0) })
        return self.isPlain(name.utf8) && !name.isEmpty && !self.isIdentifier(name)
    }

    /// True for letters, digits and characters without a meaning in patterns, in quoted YAML and in percent-encoded paths.
    private static func isPlain(_ bytes: Substring.UTF8View) -> Bool {
        bytes.allSatisfy { self.isLetter($0) || ASCII.isDigit($0) || "-._~:!$'()+,".utf8.contains($0) }
    }

    // MARK: Identifiers

    /// True for numbers, UUIDs, dates, hashes, and text that looks random.
    static func isIdentifier(_ text: Substring) -> Bool {
        let bytes = text.utf8
        if bytes.count > self.longestWord { return true }
        if !bytes.isEmpty, bytes.allSatisfy(ASCII.isDigit) { return true }
        if bytes.count == 36, bytes.allSatisfy({ $0 == UInt8(ascii: "-") || ASCII.hexValue($0) != nil }) { return true }
        return bytes.split { !self.isLetter($0) && !ASCII.isDigit($0) }.contains(where: self.looksDrawn)
    }

    /// True if a sequence of letters and digits looks random.
    private static func looksDrawn(_ part: Substring.UTF8View.SubSequence) -> Bool {
        var (digits, hex, switches, rises) = (0, 0, 0, 0)
        var previous: UInt8?
        for byte in part {
            let isDigit = ASCII.isDigit(byte)
            if isDigit { digits += 1 }
            if ASCII.hexValue(byte) != nil { hex += 1 }
            if let previous {
                if ASCII.isDigit(previous) != isDigit { switches += 1 }
                if self.isLower(previous), !isDigit, !self.isLower(byte) { rises += 1 }
            }
            previous = byte
        }
        let count = part.count
        if digits == count { return count >= 3 }
        if self.isVersion(part, digits) { return false }
        return count >= 24 || count >= 5 && digits * 2 >= count
            || hex == count && count >= (digits > 0 ? 8 : 16)
            || count >= 6 && switches >= 3 || count >= 10 && switches >= 2 && digits >= 2
            || count >= 8 && rises * 3 >= count
    }

    /// True for a version: `v2`, `v1beta1`.
    private static func isVersion(_ part: Substring.UTF8View.SubSequence, _ digits: Int) -> Bool {
        guard part.count <= 9, digits <= 3, let first = part.first, first | 0x20 == UInt8(ascii: "v") else {
            return false
        }
        return part.dropFirst().first.map(ASCII.isDigit) ?? false
    }

    private static func isLetter(_ byte: UInt8) -> Bool { self.isLower(byte | 0x20) }

    private static func isLower(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
}
