// SPDX-License-Identifier: Apache-2.0

/// Converts a document that arrives in pieces, in any ``UnicodeForm``, to UTF-8 without byte order mark.
///
/// UTF-8 is passed on unchanged and unchecked. In the other forms, invalid bytes end the document.
struct UnicodeTranscoder {
    /// Nil until four bytes have arrived, or the whole document if it is shorter.
    private var form: UnicodeForm?
    private var head: [UInt8] = []
    /// The code unit that is being read; `filled` is the number of its bytes so far.
    private var unit: UInt32 = 0
    private var filled = 0
    /// The first half of a surrogate pair.
    private var highSurrogate: UInt32?

    /// Takes the next piece.
    ///
    /// - Parameters:
    ///   - isLast: true if the document ends with it.
    ///   - pass: receives UTF-8, the original form, and true at the end of the document; called at least once for the last
    ///     piece if it is text.
    /// - Returns: true if the whole piece was text. If not, the text before the invalid bytes has been passed on, and no
    ///   piece may follow.
    mutating func take<Problem: Error>(
        _ piece: UnsafeBufferPointer<UInt8>, isLast: Bool,
        pass: (UnsafeBufferPointer<UInt8>, UnicodeForm, _ isLast: Bool) throws(Problem) -> Void
    ) throws(Problem) -> Bool {
        if let form = self.form { return try self.take(piece, in: form, isLast: isLast, pass: pass) }
        guard isLast || self.head.count + piece.count >= UnicodeForm.headCount else {
            self.head.append(contentsOf: piece)
            return true
        }
        let form = UnicodeForm(of: self.head + piece.prefix(UnicodeForm.headCount))
        self.form = form
        let start = self.head.dropFirst(form.mark)
        let rest = UnsafeBufferPointer(rebasing: piece.dropFirst(max(0, form.mark - self.head.count)))
        self.head = []
        if !start.isEmpty {
            let isText = try Array(start).withUnsafeBufferPointer { bytes throws(Problem) in
                try self.take(bytes, in: form, isLast: false, pass: pass)
            }
            guard isText else { return false }
        }
        return try self.take(rest, in: form, isLast: isLast, pass: pass)
    }

    private mutating func take<Problem: Error>(
        _ piece: UnsafeBufferPointer<UInt8>, in form: UnicodeForm, isLast: Bool,
        pass: (UnsafeBufferPointer<UInt8>, UnicodeForm, _ isLast: Bool) throws(Problem) -> Void
    ) throws(Problem) -> Bool {
        switch form {
        case .utf8:
            try pass(piece, form, isLast)
            return true
        case .utf16(_, let bigEndian):
            return try self.transcode(piece, in: form, isLast: isLast, pass: pass) { machine, byte in
                machine.unit16(adding: byte, bigEndian)
            }
        case .utf32(_, let bigEndian):
            return try self.transcode(piece, in: form, isLast: isLast, pass: pass) { machine, byte in
                machine.unit32(adding: byte, bigEndian)
            }
        }
    }

    /// The result of adding a byte.
    private enum Step {
        case nothing
        case scalar(UnicodeScalar)
        case noText
    }

    @inline(__always)
    private mutating func transcode<Problem: Error>(
        _ piece: UnsafeBufferPointer<UInt8>, in form: UnicodeForm, isLast: Bool,
        pass: (UnsafeBufferPointer<UInt8>, UnicodeForm, _ isLast: Bool) throws(Problem) -> Void,
        step: (inout UnicodeTranscoder, UInt8) -> Step
    ) throws(Problem) -> Bool {
        let room = 4096
        var text: [UInt8] = []
        text.reserveCapacity(room)
        var isText = true
        for byte in piece {
            switch step(&self, byte) {
            case .nothing: continue
            case .scalar(let scalar): UTF8.encode(scalar) { text.append($0) }
            case .noText: isText = false
            }
            if !isText { break }
            if text.count > room - 4 {
                try Self.pass(text, isLast: false, as: form, pass)
                text.removeAll(keepingCapacity: true)
            }
        }
        if isLast, self.filled != 0 || self.highSurrogate != nil { isText = false }
        try Self.pass(text, isLast: isLast && isText, as: form, pass)
        return isText
    }

    private static func pass<Problem: Error>(
        _ text: [UInt8], isLast: Bool, as form: UnicodeForm,
        _ pass: (UnsafeBufferPointer<UInt8>, UnicodeForm, Bool) throws(Problem) -> Void
    ) throws(Problem) {
        try text.withUnsafeBufferPointer { bytes throws(Problem) in try pass(bytes, form, isLast) }
    }

    private mutating func unit16(adding byte: UInt8, _ bigEndian: Bool) -> Step {
        self.unit = self.unit << 8 | UInt32(byte)
        self.filled += 1
        guard self.filled == 2 else { return .nothing }
        let unit = bigEndian ? self.unit : UInt32(UInt16(truncatingIfNeeded: self.unit).byteSwapped)
        (self.unit, self.filled) = (0, 0)
        if let high = self.highSurrogate {
            guard unit & 0xFC00 == 0xDC00 else { return .noText }
            self.highSurrogate = nil
            return Self.step(0x10000 + (high & 0x3FF) << 10 + unit & 0x3FF)
        }
        guard unit & 0xFC00 == 0xD800 else { return Self.step(unit) }
        self.highSurrogate = unit
        return .nothing
    }

    private mutating func unit32(adding byte: UInt8, _ bigEndian: Bool) -> Step {
        self.unit = self.unit << 8 | UInt32(byte)
        self.filled += 1
        guard self.filled == 4 else { return .nothing }
        let unit = bigEndian ? self.unit : self.unit.byteSwapped
        (self.unit, self.filled) = (0, 0)
        return Self.step(unit)
    }

    private static func step(_ value: UInt32) -> Step { UnicodeScalar(value).map(Step.scalar) ?? .noText }
}
