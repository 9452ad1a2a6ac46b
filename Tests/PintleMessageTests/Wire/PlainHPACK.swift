// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleTesting

/// HPACK (RFC 7541) in the plain form of the RFC: slow, to compare the fast implementation with.
struct PlainHPACK {
    struct Field: Hashable, CustomStringConvertible {
        var name: [UInt8]
        var value: [UInt8]

        init(_ name: String, _ value: String) { self.init(name: Array(name.utf8), value: Array(value.utf8)) }

        init(name: [UInt8], value: [UInt8]) { (self.name, self.value) = (name, value) }

        var size: Int { self.name.count + self.value.count + 32 }

        var description: String { "\(String(latin1: self.name)): \(String(latin1: self.value))" }
    }

    /// Says how a field is written.
    enum Form: UInt8, CaseIterable { case kept = 0x40, plain = 0, never = 0x10 }

    let most: Int
    private(set) var limit: Int
    /// The newest first.
    private(set) var table: [Field] = []

    init(most: Int = 4096, limit: Int = 4096) { (self.most, self.limit) = (most, limit) }

    private mutating func keep(_ field: Field) {
        self.table.insert(field, at: 0)
        self.cut()
    }

    private mutating func cut() {
        while self.table.reduce(0, { $0 + $1.size }) > self.limit { self.table.removeLast() }
    }

    private var all: [Field] { Self.fixed + self.table }

    // MARK: Reading

    mutating func decode(_ block: [UInt8]) throws -> [Field] {
        var (rest, fields) = (block[...], [Field]())
        while let first = rest.first {
            switch first {
            case 0x80...: fields.append(try self.entry(try Self.integer(7, &rest)))
            case 0x20..<0x40:
                self.limit = try Self.integer(5, &rest)
                guard fields.isEmpty, self.limit <= self.most else { throw TestFailure("a size out of place") }
                self.cut()
            default:
                let index = try Self.integer(first >= 0x40 ? 6 : 4, &rest)
                let name = index == 0 ? try Self.string(&rest) : try self.entry(index).name
                let field = Field(name: name, value: try Self.string(&rest))
                if first >= 0x40 { self.keep(field) }
                fields.append(field)
            }
        }
        return fields
    }

    private func entry(_ index: Int) throws -> Field {
        guard self.all.indices ~= index - 1 else { throw TestFailure("no entry \(index)") }
        return self.all[index - 1]
    }

    private static func byte(_ rest: inout ArraySlice<UInt8>) throws -> UInt8 {
        guard let byte = rest.popFirst() else { throw TestFailure("cut off") }
        return byte
    }

    private static func integer(_ bits: Int, _ rest: inout ArraySlice<UInt8>) throws -> Int {
        var value = Int(try self.byte(&rest)) & (1 << bits - 1)
        guard value == 1 << bits - 1 else { return value }
        for shift in stride(from: 0, to: 56, by: 7) {
            let byte = try self.byte(&rest)
            value += Int(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        throw TestFailure("a large number")
    }

    private static func string(_ rest: inout ArraySlice<UInt8>) throws -> [UInt8] {
        let isHuffman = rest.first ?? 0 >= 0x80
        let count = try self.integer(7, &rest)
        guard count <= rest.count else { throw TestFailure("cut off") }
        defer { rest = rest.dropFirst(count) }
        return isHuffman ? try self.unpacked(Array(rest.prefix(count))) : Array(rest.prefix(count))
    }

    // MARK: Writing

    /// Writes a field that a decoder of this state reads, and changes the state as it will.
    ///
    /// - Parameters:
    ///   - form: the form of the field if no entry is referred to.
    ///   - refers: true if an entry is used if there is one.
    mutating func encode(_ field: Field, _ form: Form, refers: Bool, packs: Bool) -> [UInt8] {
        if refers, let index = self.all.firstIndex(of: field) { return HTTP2Bytes.integer(index + 1, 7, 0x80) }
        let name = refers ? self.all.firstIndex { $0.name == field.name }.map { $0 + 1 } ?? 0 : 0
        let bits = form == .kept ? 6 : 4
        defer { if form == .kept { self.keep(field) } }
        return HTTP2Bytes.integer(name, bits, form.rawValue) + (name == 0 ? Self.string(field.name, packs) : [])
            + Self.string(field.value, packs)
    }

    mutating func encode(limit: Int) -> [UInt8] {
        self.limit = limit
        self.cut()
        return HTTP2Bytes.integer(limit, 5, 0x20)
    }

    private static func string(_ bytes: [UInt8], _ packs: Bool) -> [UInt8] {
        let coded = packs ? self.packed(bytes) : bytes
        return HTTP2Bytes.integer(coded.count, 7, packs ? 0x80 : 0) + coded
    }

    // MARK: Huffman's code

    /// The codes of the bytes, and of the end, as digits.
    static let codes: [String] = {
        var codes = [String](repeating: "", count: HuffmanCode.lengths.count)
        var (code, last) = (0, 0)
        for symbol in codes.indices.sorted(by: { (HuffmanCode.lengths[$0], $0) < (HuffmanCode.lengths[$1], $1) }) {
            let length = Int(HuffmanCode.lengths[symbol])
            code <<= length - last
            let digits = String(code, radix: 2)
            codes[symbol] = String(repeating: "0", count: length - digits.count) + digits
            (code, last) = (code + 1, length)
        }
        return codes
    }()

    private static let symbols = Dictionary(uniqueKeysWithValues: Self.codes.enumerated().map { ($1, $0) })

    static func packed(_ bytes: [UInt8]) -> [UInt8] {
        var digits = bytes.map { self.codes[Int($0)] }.joined()
        while digits.count % 8 != 0 { digits += "1" }
        return self.bytes(digits)
    }

    static func bytes(_ digits: String) -> [UInt8] {
        let digits = Array(digits)
        return stride(from: 0, to: digits.count, by: 8).map { UInt8(String(digits[$0..<$0 + 8]), radix: 2) ?? 0 }
    }

    static func unpacked(_ bytes: [UInt8]) throws -> [UInt8] {
        var (found, code) = ([UInt8](), "")
        for byte in bytes {
            for bit in (0..<8).reversed() {
                code += byte >> bit & 1 == 1 ? "1" : "0"
                guard let symbol = self.symbols[code] else { continue }
                guard symbol < 256 else { throw TestFailure("the end of a string within it") }
                found.append(UInt8(symbol))
                code = ""
            }
        }
        guard code.count < 8, !code.contains("0") else { throw TestFailure("a string is filled up with \(code)") }
        return found
    }

    // MARK: The static table

    static let fixed: [Field] = [
        Field(":authority", ""), Field(":method", "GET"), Field(":method", "POST"), Field(":path", "/"),
        Field(":path", "/index.html"), Field(":scheme", "http"), Field(":scheme", "https"), Field(":status", "200"),
        Field(":status", "204"), Field(":status", "206"), Field(":status", "304"), Field(":status", "400"),
        Field(":status", "404"), Field(":status", "500"), Field("accept-charset", ""),
        Field("accept-encoding", "gzip, deflate"), Field("accept-language", ""), Field("accept-ranges", ""),
        Field("accept", ""), Field("access-control-allow-origin", ""), Field("age", ""), Field("allow", ""),
        Field("authorization", ""), Field("cache-control", ""), Field("content-disposition", ""),
        Field("content-encoding", ""), Field("content-language", ""), Field("content-length", ""),
        Field("content-location", ""), Field("content-range", ""), Field("content-type", ""), Field("cookie", ""),
        Field("date", ""), Field("etag", ""), Field("expect", ""), Field("expires", ""), Field("from", ""),
        Field("host", ""), Field("if-match", ""), Field("if-modified-since", ""), Field("if-none-match", ""),
        Field("if-range", ""), Field("if-unmodified-since", ""), Field("last-modified", ""), Field("link", ""),
        Field("location", ""), Field("max-forwards", ""), Field("proxy-authenticate", ""),
        Field("proxy-authorization", ""), Field("range", ""), Field("referer", ""), Field("refresh", ""),
        Field("retry-after", ""), Field("server", ""), Field("set-cookie", ""), Field("strict-transport-security", ""),
        Field("transfer-encoding", ""), Field("user-agent", ""), Field("vary", ""), Field("via", ""),
        Field("www-authenticate", ""),
    ]
}
