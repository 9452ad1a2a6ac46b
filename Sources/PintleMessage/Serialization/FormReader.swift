// SPDX-License-Identifier: Apache-2.0

/// Reads `name=value&name=value` into nested values: the inverse of ``QueryString``. Names nest as ``FormTree`` says; a
/// name without `=` is null.
struct FormReader {
    /// Where a pair is among the bytes without escapes.
    private struct Pair {
        var start: Int
        var nameEnd: Int
        var end: Int
        var hasValue: Bool
        var isASCII: Bool
    }

    /// The form without escapes and separators.
    private let bytes: [UInt8]
    private let pairs: [Pair]
    private let encoding: TextEncoding

    /// Reads a form.
    ///
    /// - Throws: `.malformedBody` for broken escapes, bytes that are not text in `encoding`, and what ``FormTree`` refuses.
    static func read(_ bytes: [UInt8], encoding: TextEncoding = .utf8) throws(SerializationError) -> Parameter {
        guard bytes.count <= Int32.max / 2 else {
            throw SerializationError(.malformedBody, "the form is larger than 1 GiB; send less.")
        }
        return try FormReader(bytes, encoding).parameter()
    }

    private init(_ form: [UInt8], _ encoding: TextEncoding) throws(SerializationError) {
        var pass = Pass(of: form.count)
        guard form.withUnsafeBufferPointer({ pass.run($0) }) else {
            throw SerializationError(
                .malformedBody, "the form has a “%” without two hexadecimal digits; write a “%” as “%25”.")
        }
        self.bytes = pass.output.bytes
        self.pairs = pass.pairs
        self.encoding = encoding
    }

    private func parameter() throws(SerializationError) -> Parameter {
        let isUTF8 = self.encoding == .utf8
        var tree = FormTree(names: self.bytes, expecting: self.pairs.count)
        for pair in self.pairs {
            let (name, value) = (pair.start..<pair.nameEnd, pair.nameEnd..<pair.end)
            let parameter: Parameter =
                pair.hasValue ? .string(try self.text(value, isASCII: pair.isASCII, isUTF8)) : .null
            if pair.isASCII {
                try tree.insert(parameter, name: name)
            } else {
                // Brackets are looked for in the text: in Shift_JIS they also are the second bytes of letters.
                try tree.insert(parameter, name: try self.text(name, isASCII: false, isUTF8))
            }
        }
        return tree.parameter
    }

    private func text(
        _ range: Range<Int>, isASCII: Bool, _ isUTF8: Bool
    ) throws(SerializationError) -> String {
        let bytes = self.bytes.span.extracting(range)
        if isASCII { return String(checkedUTF8: bytes) }
        if isUTF8 {
            guard let text = try? UTF8Span(validating: bytes) else { throw self.notText }
            return String(copying: text)
        }
        guard let text = self.encoding.decode(Array(self.bytes[range])) else { throw self.notText }
        return text
    }

    private var notText: SerializationError {
        SerializationError(
            .malformedBody, "the form has bytes that are not \(self.encoding); name its charset in Content-Type.")
    }

    /// One pass over a form, which finds pairs and undoes escapes.
    private struct Pass: ~Copyable {
        private(set) var output: ByteWriter
        private(set) var pairs: [Pair] = []
        private var start = 0
        private var nameEnd = -1
        /// All bytes of the pair but those that were copied in runs, one over the other.
        private var bits: UInt8 = 0

        init(of count: Int) {
            self.output = ByteWriter(reserving: count + 8)
            self.pairs.reserveCapacity(count / 24)
        }

        /// - Returns: whether all escapes are in order.
        mutating func run(_ form: UnsafeBufferPointer<UInt8>) -> Bool {
            var place = 0
            var first = 0
            while true {
                place = self.output.append(form, from: place) { word in
                    word.marks(of: UInt8(ascii: "&")) | word.marks(of: UInt8(ascii: "="))
                        | word.marks(of: UInt8(ascii: "%")) | word.marks(of: UInt8(ascii: "+")) | word.marksBeyondASCII
                }
                guard place < form.count else { break }
                let byte = form[place]
                place += 1
                switch byte {
                case UInt8(ascii: "&"):
                    self.endPair(isEmpty: place - 1 == first)
                    first = place
                case UInt8(ascii: "=") where self.nameEnd < 0: self.nameEnd = self.output.count
                case UInt8(ascii: "%"):
                    guard place + 1 < form.count, let high = ASCII.hexValue(form[place]),
                        let low = ASCII.hexValue(form[place + 1])
                    else { return false }
                    self.append(high << 4 | low)
                    place += 2
                case UInt8(ascii: "+"): self.append(0x20)
                default: self.append(byte)
                }
            }
            self.endPair(isEmpty: first == form.count)
            return true
        }

        private mutating func append(_ byte: UInt8) {
            self.bits |= byte
            self.output.append(byte)
        }

        private mutating func endPair(isEmpty: Bool) {
            let end = self.output.count
            if !isEmpty {
                self.pairs.append(
                    Pair(
                        start: self.start, nameEnd: self.nameEnd < 0 ? end : self.nameEnd, end: end,
                        hasValue: self.nameEnd >= 0, isASCII: self.bits < 0x80))
            }
            (self.start, self.nameEnd, self.bits) = (end, -1, 0)
        }
    }
}
