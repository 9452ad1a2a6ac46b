// SPDX-License-Identifier: Apache-2.0

/// Reads `name=value&name=value` into nested values: the inverse of ``QueryString``. Names nest as ``FormTree`` says; a
/// name without `=` is null.
struct FormReader {
    /// Where a pair is among the bytes without escapes: the name begins where the pair before ended.
    private struct Pair {
        var start: Int
        var nameEnd: Int
        var end: Int
        var hasValue: Bool
    }

    /// The form without escapes and separators.
    private let bytes: [UInt8]
    private let pairs: [Pair]
    private let encoding: TextEncoding
    private let isASCII: Bool

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
        var pairs: [Pair] = []
        pairs.reserveCapacity(form.count / 16)
        var unescaping = Unescaping()
        self.bytes = [UInt8](unsafeUninitializedCapacity: form.count) { output, count in
            form.withUnsafeBufferPointer { unescaping.run($0, into: output, &pairs) }
            count = unescaping.isBroken ? 0 : unescaping.count
        }
        guard !unescaping.isBroken else {
            throw SerializationError(
                .malformedBody, "the form has a “%” without two hexadecimal digits; write a “%” as “%25”.")
        }
        self.pairs = pairs
        self.encoding = encoding
        self.isASCII = unescaping.allBits < 0x80
    }

    private func parameter() throws(SerializationError) -> Parameter {
        var tree = FormTree(names: self.bytes, expecting: self.pairs.count)
        let namesAreText = self.isASCII || self.encoding == .utf8
        for pair in self.pairs {
            let value: Parameter = pair.hasValue ? .string(try self.text(pair.nameEnd..<pair.end)) : .null
            let name = pair.start..<pair.nameEnd
            if !self.isASCII {
                let text = try self.text(name)
                if !namesAreText {
                    // Brackets are looked for in the text: in Shift_JIS they also are the second bytes of letters.
                    try tree.insert(value, name: text)
                    continue
                }
            }
            try tree.insert(value, name: name)
        }
        return tree.parameter
    }

    private func text(_ range: Range<Int>) throws(SerializationError) -> String {
        if self.isASCII {
            return self.bytes.withUnsafeBufferPointer { String(decoding: $0[range], as: UTF8.self) }
        }
        let text =
            self.encoding == .utf8
            ? self.bytes.withUnsafeBufferPointer { String(validating: $0[range], as: UTF8.self) }
            : self.encoding.decode(Array(self.bytes[range]))
        guard let text else {
            throw SerializationError(
                .malformedBody, "the form has bytes that are not \(self.encoding); name its charset in Content-Type.")
        }
        return text
    }

    /// One pass over a form.
    private struct Unescaping {
        var count = 0
        var isBroken = false
        /// All bytes that are text, one over the other.
        var allBits: UInt8 = 0

        mutating func run(
            _ form: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>, _ pairs: inout [Pair]
        ) {
            guard let output = output.baseAddress else { return }
            var (read, written, start, nameEnd, first) = (0, 0, 0, -1, 0)
            var bits: UInt8 = 0
            while read < form.count {
                var byte = form[read]
                read += 1
                switch byte {
                case UInt8(ascii: "&"):
                    if read - 1 > first { pairs.append(Self.pair(start, nameEnd, written)) }
                    (start, nameEnd, first) = (written, -1, read)
                    continue
                case UInt8(ascii: "=") where nameEnd < 0:
                    nameEnd = written
                    continue
                case UInt8(ascii: "%"):
                    guard read + 1 < form.count, let high = ASCII.hexValue(form[read]),
                        let low = ASCII.hexValue(form[read + 1])
                    else {
                        self.isBroken = true
                        return
                    }
                    byte = high << 4 | low
                    read += 2
                case UInt8(ascii: "+"): byte = 0x20
                default: break
                }
                bits |= byte
                output[written] = byte
                written += 1
            }
            if read > first { pairs.append(Self.pair(start, nameEnd, written)) }
            self.count = written
            self.allBits = bits
        }

        private static func pair(_ start: Int, _ nameEnd: Int, _ end: Int) -> Pair {
            Pair(start: start, nameEnd: nameEnd < 0 ? end : nameEnd, end: end, hasValue: nameEnd >= 0)
        }
    }
}
