// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// Tells words, which name a kind of thing, from identifiers, which name one thing among many and may be secrets.
///
/// It guesses: of what it takes for a word nothing proves that it is public.
enum SegmentShape {
    /// The longest text that counts as a word, in bytes.
    private static let longestWord = 48
    /// The longest ending of a file's name that is kept.
    private static let longestExtension = 5

    /// A segment of a path as a pattern has it: itself, `*`, or `*.json`.
    ///
    /// The same segment always gives the same pattern, and what gives `*` matches no `*.json` that another one gives.
    static func pattern(_ segment: Substring) -> String {
        if self.isPlain(segment.utf8), !self.isIdentifier(segment) { return String(segment) }
        guard let dot = segment.utf8.lastIndex(of: UInt8(ascii: ".")), dot != segment.startIndex else { return "*" }
        let ending = segment.utf8[segment.utf8.index(after: dot)...]
        let isExtension =
            (1...self.longestExtension).contains(ending.count) && ending.contains(where: self.isLetter)
            && ending.allSatisfy { self.isLetter($0) || ASCII.isDigit($0) }
        return isExtension ? "*.\(Substring(ending))" : "*"
    }

    /// True for a member's name that may be written into a schema: others are keys of a map.
    static func isName(_ key: String) -> Bool {
        let name = Substring(key.utf8.drop { "@$#".utf8.contains($0) })
        return self.isPlain(name.utf8) && !name.isEmpty && !self.isIdentifier(name)
    }

    /// Letters, digits and marks that mean nothing in a pattern, in YAML's quotes or in a percent-encoded path.
    private static func isPlain(_ bytes: Substring.UTF8View) -> Bool {
        bytes.allSatisfy { self.isLetter($0) || ASCII.isDigit($0) || "-._~:!$'()+,".utf8.contains($0) }
    }

    // MARK: Identifiers

    /// True for numbers, UUIDs, dates, hashes, and text that looks drawn by lot.
    static func isIdentifier(_ text: Substring) -> Bool {
        let bytes = text.utf8
        if bytes.count > self.longestWord { return true }
        if !bytes.isEmpty, bytes.allSatisfy(ASCII.isDigit) { return true }
        if bytes.count == 36, bytes.allSatisfy({ $0 == UInt8(ascii: "-") || ASCII.hexValue($0) != nil }) { return true }
        return bytes.split { !self.isLetter($0) && !ASCII.isDigit($0) }.contains(where: self.looksDrawn)
    }

    /// Judges letters and digits without a mark between them.
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

    /// `v2`, `v1beta1`.
    private static func isVersion(_ part: Substring.UTF8View.SubSequence, _ digits: Int) -> Bool {
        guard part.count <= 9, digits <= 3, let first = part.first, first | 0x20 == UInt8(ascii: "v") else {
            return false
        }
        return part.dropFirst().first.map(ASCII.isDigit) ?? false
    }

    private static func isLetter(_ byte: UInt8) -> Bool { self.isLower(byte | 0x20) }

    private static func isLower(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
}
