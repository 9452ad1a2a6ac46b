// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// Reads `name=value&name=value` into nested values: the inverse of ``QueryString``. Names nest as ``FormTree`` describes.
/// A name without `=` has the value null.
struct FormDecoder {
    /// The place of a pair among the bytes without escapes.
    private struct Pair: BitwiseCopyable {
        var start: Int32
        var nameEnd: Int32
        var end: Int32
        var hasValue: Bool
        var isASCII: Bool
    }

    /// Reads a form.
    ///
    /// - Throws: `.malformedBody` for broken escapes, bytes that are not text in `encoding`, and the errors of
    ///   ``FormTree``.
    static func read(_ bytes: [UInt8], encoding: TextEncoding = .utf8) throws(SerializationError) -> Parameter {
        guard bytes.count <= Int32.max / 2 else {
            throw SerializationError(.malformedBody, "the form is larger than 1 GiB; send less.")
        }
        var output = ByteWriter(reserving: bytes.count + 8)
        var pairs = OwnedList<Pair>(reserving: bytes.count / 24)
        guard bytes.withUnsafeBufferPointer({ Pass.run($0, to: &output, pairs: &pairs) }) else {
            throw SerializationError(
                .malformedBody, "the form has a “%” without two hexadecimal digits; write a “%” as “%25”.")
        }
        var tree = FormTree(bytes: output, expecting: pairs.count)
        for index in 0..<pairs.count {
            let pair = pairs[index]
            let name = Int(pair.start)..<Int(pair.nameEnd)
            let value = pair.hasValue ? Int(pair.nameEnd)..<Int(pair.end) : nil
            if pair.isASCII {
                try tree.insert(text: value, name: name)
            } else {
                // Brackets are searched in the decoded text: in Shift_JIS their bytes are also the second bytes of letters.
                let text = try value.map { (value) throws(SerializationError) in
                    try Self.text(value, in: &tree, encoding)
                }
                try tree.insert(text: text, name: try Self.text(name, in: &tree, encoding))
            }
        }
        return tree.parameter
    }

    /// Returns the place of a text in UTF-8 among the tree's bytes, after decoding it if necessary.
    private static func text(
        _ range: Range<Int>, in tree: inout FormTree, _ encoding: TextEncoding
    ) throws(SerializationError) -> Range<Int> {
        if encoding == .utf8 {
            if tree.isUTF8(range) { return range }
        } else if let text = encoding.decode(tree.withBytes(range) { Array($0) }) {
            return try tree.add(text)
        }
        throw SerializationError(
            .malformedBody, "the form has bytes that are not \(encoding); name its charset in Content-Type.")
    }
    /// A single pass over a form, which finds pairs and undoes escapes.
    private enum Pass {
        /// - Parameters:
        ///   - output: receives the form without escapes and separators.
        ///   - pairs: receives the places of the pairs in `output`.
        /// - Returns: true if all escapes are valid.
        static func run(
            _ form: UnsafeBufferPointer<UInt8>, to output: inout ByteWriter, pairs: inout OwnedList<Pair>
        ) -> Bool {
            var isInOrder = true
            // The output is never longer than the form.
            output.append(atMost: form.count) { target in
                var pair = OpenPair(start: 0)
                var (place, first, end) = (0, 0, 0)
                scan: while true {
                    end += Self.copyPlain(form, from: &place, to: target + end, bits: &pair.bits)
                    guard place < form.count else { break }
                    // Special bytes often stand side by side.
                    repeat {
                        var byte = form[place]
                        place += 1
                        switch byte {
                        case UInt8(ascii: "%"):
                            guard form.count - place >= 2 else {
                                isInOrder = false
                                break scan
                            }
                            let (high, low) = (ASCII.hexDigitValue(form[place]), ASCII.hexDigitValue(form[place + 1]))
                            guard high | low < 16 else {
                                isInOrder = false
                                break scan
                            }
                            byte = high << 4 | low
                            place += 2
                        case UInt8(ascii: "+"): byte = 0x20
                        case UInt8(ascii: "&"):
                            if place - 1 > first { pairs.append(pair.closed(at: end)) }
                            pair = OpenPair(start: end)
                            first = place
                            continue
                        case UInt8(ascii: "=") where pair.nameEnd < 0:
                            pair.nameEnd = end
                            continue
                        default: break
                        }
                        pair.bits |= byte
                        target[end] = byte
                        end += 1
                    } while place < form.count && Self.isSpecial(form[place])
                }
                if place > first { pairs.append(pair.closed(at: end)) }
                return end
            }
            return isInOrder
        }

        /// Copies bytes up to the first that may be one of `%&+=`. It may write up to eight bytes after those that count.
        ///
        /// - Returns: the number of bytes that count.
        @inline(__always)
        private static func copyPlain(
            _ form: UnsafeBufferPointer<UInt8>, from place: inout Int, to target: UnsafeMutablePointer<UInt8>,
            bits: inout UInt8
        ) -> Int {
            let start = place
            while form.count - place >= 8 {
                let word = ByteWord(form, at: place)
                let marks = word.marksBeyondASCII | word.marks(ofSixteenFrom: 0x20) | word.marks(of: UInt8(ascii: "="))
                word.store(to: target + (place - start))
                guard marks == 0 else {
                    place += marks.trailingZeroBitCount / 8
                    return place - start
                }
                place += 8
            }
            while place < form.count, !Self.isSpecial(form[place]) {
                bits |= form[place]
                target[place - start] = form[place]
                place += 1
            }
            return place - start
        }

        /// True if a byte is one of `%&+=`, all of which are among the first 64.
        @inline(__always)
        private static func isSpecial(_ byte: UInt8) -> Bool {
            byte < 64 && 0x2000_0860_0000_0000 &>> UInt64(byte) & 1 != 0
        }
    }

    /// A pair whose end has not been read yet.
    private struct OpenPair {
        let start: Int
        var nameEnd = -1
        /// A bitwise OR of the pair's bytes: its highest bit is set if one of them is not ASCII.
        var bits: UInt8 = 0

        init(start: Int) { self.start = start }

        @inline(__always)
        func closed(at end: Int) -> Pair {
            Pair(
                start: Int32(self.start), nameEnd: Int32(self.nameEnd < 0 ? end : self.nameEnd), end: Int32(end),
                hasValue: self.nameEnd >= 0, isASCII: self.bits < 0x80)
        }
    }
}
