// SPDX-License-Identifier: Apache-2.0

private import PintleMessage

/// Refuses YAML with aliases that would make its composition expensive, before it is composed.
///
/// A composed alias is a shared node and cheap, with two exceptions. A map hashes its keys to find duplicates, which takes
/// practically forever for a key of nested aliases. And nodes that alias one another in a chain are as deep as all of them
/// together, which overflows the stack when they are released. A file without an anchor has neither problem. The rest is
/// counted on the raw bytes; if quotes or comments mislead the count, it is too high, never too low.
enum AliasGuard {
    private static let anchorLimit = 64
    private static let flowDepthLimit = 64
    private static let indentLimit = 128

    /// The reason to refuse the file; nil if there is none.
    static func refusal(of bytes: [UInt8]) -> String? {
        var scan = Scan()
        for (index, byte) in bytes.enumerated() {
            scan.take(byte, next: index + 1 < bytes.count ? bytes[index + 1] : nil)
        }
        guard scan.anchors > 0 else { return nil }
        if scan.anchors > Self.anchorLimit { return "more than \(Self.anchorLimit) anchors; repeat the lines instead" }
        if scan.hasCollectionKey { return "a file with anchors may not have lists, maps or aliases as keys" }
        if scan.flowDepth > Self.flowDepthLimit || scan.indent > Self.indentLimit {
            return "a file with anchors may not be nested deeper than \(Self.flowDepthLimit) brackets or indented by "
                + "more than \(Self.indentLimit) columns"
        }
        return nil
    }

    private struct Scan {
        var anchors = 0
        var hasCollectionKey = false
        /// The most brackets that are open at a time.
        var flowDepth = 0
        /// The longest run of spaces and indicators at the beginning of a line.
        var indent = 0

        private var openBrackets = 0
        private var lead = 0
        private var isLeading = true
        private var previous = UInt8(ascii: "\n")
        /// True if the text read last, apart from blanks, could be a key that is not a scalar.
        private var isAfterCollection = false
        private var isInAlias = false
        /// True after an alias in this line: a key without `?` is on one line, and only a key with an alias can be large.
        private var hasAliasInLine = false

        mutating func take(_ byte: UInt8, next: UInt8?) {
            let isTokenStart =
                [0x20, 0x09, 0x0A, 0x0D].contains(self.previous) || "[{,:-?".utf8.contains(self.previous)
            self.countLead(byte)
            switch byte {
            case UInt8(ascii: "&"): if isTokenStart { self.anchors += 1 }
            case UInt8(ascii: "*"):
                self.isInAlias = isTokenStart
                if isTokenStart { self.hasAliasInLine = true }
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                self.openBrackets += 1
                self.flowDepth = max(self.flowDepth, self.openBrackets)
            case UInt8(ascii: "]"), UInt8(ascii: "}"): self.openBrackets = max(0, self.openBrackets - 1)
            case UInt8(ascii: "?"): if isTokenStart, Self.isBlank(next) { self.hasCollectionKey = true }
            case UInt8(ascii: ":"):
                if self.hasAliasInLine, self.isAfterCollection || self.isInAlias { self.hasCollectionKey = true }
            default: break
            }
            self.finish(byte)
        }

        private mutating func finish(_ byte: UInt8) {
            if byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}") {
                self.isAfterCollection = true
            } else if !Self.isBlank(byte) {
                self.isAfterCollection = false
            }
            if self.isInAlias, Self.isBlank(byte) || ",]}".utf8.contains(byte) {
                self.isInAlias = false
                // Blanks may stand between an alias and its colon.
                if byte == 0x20 || byte == 0x09 { self.isAfterCollection = true }
            }
            if byte == 0x0A || byte == 0x0D {
                self.isAfterCollection = false
                self.hasAliasInLine = false
            }
            self.previous = byte
        }

        private mutating func countLead(_ byte: UInt8) {
            if byte == 0x0A || byte == 0x0D {
                self.lead = 0
                self.isLeading = true
            } else if self.isLeading, byte == 0x20 || byte == 0x09 || "-?:".utf8.contains(byte) {
                self.lead += 1
                self.indent = max(self.indent, self.lead)
            } else {
                self.isLeading = false
            }
        }

        private static func isBlank(_ byte: UInt8?) -> Bool {
            guard let byte else { return true }
            return byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
        }
    }
}
