// SPDX-License-Identifier: Apache-2.0

/// Checks strictly that bytes are one JSON document (RFC 8259).
///
/// The encoding is UTF-8. UTF-16 and UTF-32 are recognised by a byte order mark or by their zero bytes, and transcoded
/// first. A byte order mark is ignored. Keys may repeat, as RFC 8259 §4 permits. An escaped half of a surrogate pair is an
/// error.
public struct JSONScanner: Sendable, Hashable {
    /// True if strings, numbers, truth values and null may stand alone. Default false.
    public var fragmentsAllowed: Bool
    /// The maximum number of levels of arrays and objects. Default 512.
    public var nestingLimit: Int

    /// Makes a scanner.
    public init(fragmentsAllowed: Bool = false, nestingLimit: Int = 512) {
        self.fragmentsAllowed = fragmentsAllowed
        self.nestingLimit = nestingLimit
    }

    /// Checks a whole document.
    ///
    /// - Throws: the place of the first byte that is not JSON, and the reason.
    public func validate(_ bytes: [UInt8]) throws(JSONSyntaxError) {
        try bytes.withUnsafeBufferPointer { bytes throws(JSONSyntaxError) in try self.validate(bytes) }
    }

    /// Checks a whole document anywhere in memory.
    ///
    /// - Throws: the place of the first byte that is not JSON, and the reason.
    public func validate(_ bytes: UnsafeRawBufferPointer) throws(JSONSyntaxError) {
        try bytes.withMemoryRebound(to: UInt8.self) { bytes throws(JSONSyntaxError) in try self.validate(bytes) }
    }

    private func validate(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONSyntaxError) {
        var validator = JSONValidator(self)
        try validator.take(bytes, isLast: true)
    }

    /// Returns the document in UTF-8 without byte order mark: `bytes` itself if it has this form already.
    func checkedUTF8(_ bytes: [UInt8]) throws(JSONSyntaxError) -> [UInt8] {
        try self.validate(bytes)
        guard UnicodeForm(of: bytes) != .utf8(mark: 0) else { return bytes }
        // The check has transcoded it without an error already; doing it again keeps the common path simple.
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        var transcoder = UnicodeTranscoder()
        _ = bytes.withUnsafeBufferPointer { bytes in
            transcoder.take(bytes, isLast: true) { piece, _, _ in text.append(contentsOf: piece) }
        }
        return text
    }

    /// True if `text` is a JSON number (RFC 8259 §6).
    static func isNumber(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var scan = JSONScan(bytes, isLast: true, JSONScan.State(JSONScanner(fragmentsAllowed: true)))
            return scan.isNumber()
        }
    }
}
