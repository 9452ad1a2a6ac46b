// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

/// Reads lines of `log.format: text` back, which is possible without loss: the writer quotes each value that is more than one
/// word.
enum LogText {
    /// Returns the fields of a line.
    ///
    /// - Throws: `.other` for a message of the log, which begins with a time without a key.
    static func members(_ line: UnsafeRawBufferPointer) throws(TrafficMismatch) -> Parameter {
        guard line.starts(with: "time=".utf8) else {
            let isMessage = line.count > 20 && line[4] == UInt8(ascii: "-") && line[10] == UInt8(ascii: "T")
            throw isMessage ? .other : .malformed("neither a line of Pintle's log nor an HTTP archive (HAR)")
        }
        var members: [Parameter.Entry] = []
        var rest = line[...]
        while !rest.isEmpty {
            guard let equals = rest.firstIndex(of: UInt8(ascii: "=")) else { throw .malformed("a word has no =") }
            let key = String(decoding: rest[..<equals], as: UTF8.self)
            rest = rest[(equals + 1)...]
            members.append(Parameter.Entry(key, .string(try Self.value(&rest))))
            guard let next = rest.first else { break }
            guard next == UInt8(ascii: " ") else { throw .malformed("after the value of \(key) comes no space") }
            rest = rest.dropFirst()
        }
        return .dictionary(members)
    }

    /// Takes a plain word, a text between single quotation marks, or a JSON string.
    private static func value(_ rest: inout Slice<UnsafeRawBufferPointer>) throws(TrafficMismatch) -> String {
        switch rest.first {
        case UInt8(ascii: "'"):
            guard let end = rest.dropFirst().firstIndex(of: UInt8(ascii: "'")) else {
                throw .malformed("a quotation mark is not closed")
            }
            defer { rest = rest[(end + 1)...] }
            return String(decoding: rest[(rest.startIndex + 1)..<end], as: UTF8.self)
        case UInt8(ascii: "\""):
            var end = rest.startIndex + 1
            while end < rest.endIndex, rest[end] != UInt8(ascii: "\"") {
                end += rest[end] == UInt8(ascii: "\\") ? 2 : 1
            }
            guard end < rest.endIndex else { throw .malformed("a quotation mark is not closed") }
            defer { rest = rest[(end + 1)...] }
            guard case .string(let text)? = try? JSONScanner(fragmentsAllowed: true).parse(Array(rest[...end])) else {
                throw .malformed("a quoted value is no JSON string")
            }
            return text
        default:
            let end = rest.firstIndex(of: UInt8(ascii: " ")) ?? rest.endIndex
            defer { rest = rest[end...] }
            return String(decoding: rest[..<end], as: UTF8.self)
        }
    }
}
