// SPDX-License-Identifier: Apache-2.0

/// Cuts an HTTP archive that arrives in pieces into its entries. It keeps no more of the file than the current entry.
///
/// It follows only the brackets and strings of JSON: each entry is checked when it is read as a document of its own.
package struct ArchiveCutter: Sendable {
    /// A part of the archive that is cut out.
    package enum Part: Sendable, Equatable {
        /// `log.creator`.
        case creator
        /// An element of `log.entries`.
        case entry
    }

    private let limit: Int
    /// The number of open arrays and objects.
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    /// The last string at depth 1 or 2, which is a key if a colon follows.
    private var text: [UInt8] = []
    private var outerKey: [UInt8] = []
    private var key: [UInt8] = []
    private var isInEntries = false
    /// The part under way, with the depth to which it returns.
    private var part: (Part, depth: Int)?
    private var held: [UInt8] = []
    private var isTooLong = false
    private var line: Int
    private var firstLine = 0

    /// - Parameters:
    ///   - limit: the maximum size of a part in bytes.
    ///   - line: the number of the line in which the bytes begin.
    package init(limit: Int, line: Int = 1) { (self.limit, self.line) = (limit, line) }

    /// True if the document has begun and not ended.
    package var isOpen: Bool { self.depth > 0 || self.isInString }
    /// The number of the line that was read last.
    package var lastLine: Int { self.line }

    /// Takes the next bytes.
    ///
    /// - Parameter each: gets each part with the line in which it begins; nil for the bytes of a part over the limit.
    package mutating func feed(_ bytes: UnsafeRawBufferPointer, _ each: (Part, [UInt8]?, Int) -> Void) {
        for byte in bytes {
            if byte == UInt8(ascii: "\n") { self.line += 1 }
            self.take(byte)
            if self.part != nil { self.hold(byte) }
            if let (part, depth) = self.part, self.depth == depth, byte == UInt8(ascii: "}") {
                each(part, self.isTooLong ? nil : self.held, self.firstLine)
                (self.part, self.isTooLong) = (nil, false)
                self.held.removeAll(keepingCapacity: true)
            }
        }
    }

    private mutating func hold(_ byte: UInt8) {
        guard !self.isTooLong else { return }
        self.held.append(byte)
        guard self.held.count > self.limit else { return }
        self.isTooLong = true
        self.held = []
    }

    private mutating func take(_ byte: UInt8) {
        if self.isInString {
            if self.isEscaped {
                self.isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                self.isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                self.isInString = false
                return
            }
            // Longer than the keys that matter; deeper strings are no keys that matter.
            if self.depth <= 2, self.text.count < 16 { self.text.append(byte) }
            return
        }
        switch byte {
        case UInt8(ascii: "\""):
            self.isInString = true
            if self.depth <= 2 { self.text.removeAll(keepingCapacity: true) }
        case UInt8(ascii: ":"):
            if self.depth == 1 { self.outerKey = self.text } else if self.depth == 2 { self.key = self.text }
        case UInt8(ascii: "{"), UInt8(ascii: "["): self.open(byte)
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            self.depth = max(0, self.depth - 1)
            if self.depth == 2 { self.isInEntries = false }
        default: break
        }
    }

    private mutating func open(_ byte: UInt8) {
        let isInLog = self.depth >= 2 && self.outerKey.elementsEqual("log".utf8)
        let isObject = byte == UInt8(ascii: "{")
        if self.part == nil, isInLog {
            if self.depth == 2, !isObject, self.key.elementsEqual("entries".utf8) {
                self.isInEntries = true
            } else if self.depth == 2, isObject, self.key.elementsEqual("creator".utf8) {
                self.begin(.creator)
            } else if self.depth == 3, isObject, self.isInEntries {
                self.begin(.entry)
            }
        }
        self.depth += 1
    }

    private mutating func begin(_ part: Part) {
        self.part = (part, self.depth)
        self.firstLine = self.line
    }
}
