// SPDX-License-Identifier: Apache-2.0

/// Checks that bytes are one JSON document (RFC 8259), strictly.
///
/// UTF-8 is the encoding; UTF-16 and UTF-32 are recognised by byte order mark or by their zero bytes and transcoded
/// first. A byte order mark is ignored. Keys may repeat, as RFC 8259 §4 permits. An escaped half of a surrogate pair is
/// an error.
public struct JSONScanner: Sendable, Hashable {
    /// Whether strings, numbers, truth values and null may stand alone. Default false.
    public var fragmentsAllowed: Bool
    /// The most levels of arrays and objects. Default 512.
    public var nestingLimit: Int

    /// Makes a scanner.
    public init(fragmentsAllowed: Bool = false, nestingLimit: Int = 512) {
        self.fragmentsAllowed = fragmentsAllowed
        self.nestingLimit = nestingLimit
    }

    /// Checks a whole document.
    ///
    /// - Throws: where and why the bytes stop being JSON.
    public func validate(_ bytes: [UInt8]) throws(JSONSyntaxError) {
        try bytes.withUnsafeBufferPointer { bytes throws(JSONSyntaxError) in try self.validate(bytes) }
    }

    /// Checks a whole document that lies anywhere in memory.
    ///
    /// - Throws: where and why the bytes stop being JSON.
    public func validate(_ bytes: UnsafeRawBufferPointer) throws(JSONSyntaxError) {
        try bytes.withMemoryRebound(to: UInt8.self) { bytes throws(JSONSyntaxError) in try self.validate(bytes) }
    }

    private func validate(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONSyntaxError) {
        var validator = JSONValidator(self)
        try validator.take(bytes, isLast: true)
    }

    /// The document in UTF-8 without byte order mark: `bytes` itself where that is what they are.
    func checkedUTF8(_ bytes: [UInt8]) throws(JSONSyntaxError) -> [UInt8] {
        try self.validate(bytes)
        guard UnicodeForm(of: bytes) != .utf8(mark: 0) else { return bytes }
        // It has just been transcoded without an error; doing it twice keeps the common path simple.
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        var transcoder = UnicodeTranscoder()
        _ = bytes.withUnsafeBufferPointer { bytes in
            transcoder.take(bytes, isLast: true) { piece, _, _ in text.append(contentsOf: piece) }
        }
        return text
    }

    /// Whether `text` is a JSON number (RFC 8259 §6).
    static func isNumber(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var scan = JSONScan(bytes, isLast: true, JSONScan.State(JSONScanner(fragmentsAllowed: true)))
            return scan.isNumber()
        }
    }
}
