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
        if let error = bytes.withUnsafeBufferPointer({ self.error(in: $0) }) { throw error }
    }

    /// Checks a whole document that lies anywhere in memory.
    ///
    /// - Throws: where and why the bytes stop being JSON.
    public func validate(_ bytes: UnsafeRawBufferPointer) throws(JSONSyntaxError) {
        if let error = bytes.withMemoryRebound(to: UInt8.self, { self.error(in: $0) }) { throw error }
    }

    /// The document in UTF-8 without byte order mark: `bytes` itself where that is what they are.
    func checkedUTF8(_ bytes: [UInt8]) throws(JSONSyntaxError) -> [UInt8] {
        switch JSONEncodingForm(of: bytes) {
        case .utf8(let mark):
            try self.validate(bytes)
            return mark == 0 ? bytes : Array(bytes[mark...])
        case .utf16, .utf32:
            try self.validate(bytes)
            // It has just been transcoded without an error; doing it twice keeps the common path simple.
            return JSONEncodingForm(of: bytes).transcode(bytes).utf8
        }
    }

    /// Whether `text` is a JSON number (RFC 8259 §6).
    static func isNumber(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            guard let base = bytes.baseAddress else { return false }
            let none = UnsafeMutableBufferPointer<UInt8>(start: nil, count: 0)
            var scan = JSONScan(bytes, base: base, from: 0, levels: none, fragmentsAllowed: true)
            return scan.isNumber()
        }
    }

    private func error(in bytes: UnsafeBufferPointer<UInt8>) -> JSONSyntaxError? {
        let form = JSONEncodingForm(of: bytes)
        if case .utf8(let mark) = form { return self.errorInUTF8(bytes, from: mark) }
        let (text, isWhole) = form.transcode(bytes)
        return text.withUnsafeBufferPointer { utf8 in
            let error = self.errorInUTF8(utf8, from: 0)
            // The text ends where decoding failed; an error before that place is the first one.
            if isWhole || (error.map { $0.offset < utf8.count } ?? false) { return error }
            return JSONSyntaxError(.encoding, at: utf8.count, in: utf8, nestingLimit: self.nestingLimit)
        }
    }

    private func errorInUTF8(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> JSONSyntaxError? {
        guard let base = bytes.baseAddress else {
            let failure = self.fragmentsAllowed ? JSONScan.Failure.value : .container
            return JSONSyntaxError(failure, at: 0, in: bytes, nestingLimit: self.nestingLimit)
        }
        // No document is deeper than it is long.
        let levelCount = max(0, min(self.nestingLimit, bytes.count))
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: levelCount) { levels in
            levels.initialize(repeating: 0)
            var scan = JSONScan(
                bytes, base: base, from: start, levels: levels, fragmentsAllowed: self.fragmentsAllowed)
            guard let failure = scan.document() else { return nil }
            return JSONSyntaxError(failure, at: scan.index, in: bytes, nestingLimit: self.nestingLimit)
        }
    }
}
