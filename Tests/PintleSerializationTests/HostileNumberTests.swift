// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSerialization
import PintleTesting
import Testing

/// Numbers at and around the limits of every integer type, as any peer may send them.
@Suite struct HostileNumberTests {
    /// The lowest and the highest value of 8 to 64 bits, with and without a sign, and their neighbours.
    static let limits: [Int128] = [8, 16, 32, 64].flatMap { bits -> [Int128] in
        let (half, whole) = (Int128(1) << (bits - 1), Int128(1) << bits)
        return [-half - 1, -half, -half + 1, half - 1, half, half + 1, whole - 1, whole, whole + 1]
    }

    private func parse(_ text: String) throws(JSONSyntaxError) -> Parameter {
        try JSONScanner(fragmentsAllowed: true).parse(Array(text.utf8))
    }

    @Test(arguments: [
        "1e-9223372036854775808", "1e9223372036854775808", "-1E-9223372036854775808", "0e-9223372036854775808",
        "1.5e-9223372036854775807", "12345678901234567890e-9223372036854775808",
    ])
    func `LOOK-03 an exponent as low as Int goes is a number`(text: String) throws {
        let value = try self.parse(text)
        #expect(value == .decimal(text) || value == .number(0))
        #expect(try self.parse("[\(text)]") == .array([value]))
    }

    @Test(arguments: Self.limits)
    func `LOOK-03 a limit of an integer type is read as it stands, alone and as an exponent`(limit: Int128) throws {
        let value = try self.parse("\(limit)")
        if let whole = Int64(exactly: limit) {
            #expect(value == .integer(whole))
        } else {
            #expect(value == .decimal("\(limit)") || value == .number(Double("\(limit)") ?? 0))
        }
        for mantissa in ["1", "-1", "0", "0.1", "1.0", "-0.0", "123456789012345678901"] {
            for text in ["\(mantissa)e\(limit)", "\(mantissa)E\(limit.magnitude)", "\(mantissa)e-\(limit.magnitude)"] {
                let value = try self.parse(text)
                let written = try JSONWriter.write(value, options: .fragmentsAllowed)
                #expect(try self.parse(String(decoding: written, as: UTF8.self)) == value)
                _ = try QueryString.encode(["a": value])
            }
        }
    }

    @Test(arguments: Self.limits)
    func `LOOK-03 a limit of an integer type is a length, a range and a chunk size, or is refused`(limit: Int128) throws
    {
        let head = RequestHead(
            method: "POST", target: .origin(path: "/"), fields: ["Content-Length": "\(limit)"])
        let length = try? head.bodyFraming()
        let isLength = (0...Int128(Int64.max)).contains(limit)
        #expect(length == (isLength ? limit == 0 ? BodyFraming.none : .length(UInt64(limit)) : nil))
        for range in ["bytes 0-\(limit)/*", "bytes \(limit)-\(limit)/*", "bytes 0-1/\(limit)", "bytes */\(limit)"] {
            if let read = ContentRange(range) { #expect(read.description == range) }
        }
        var decoder = ChunkedDecoder(limits: HeadLimits())
        let chunk = Array("\(String(limit, radix: 16))\r\nabc".utf8)
        var offset = 0
        let step = try? chunk.withUnsafeBytes { try decoder.next($0, from: &offset) }
        #expect((step == nil) == (limit < 0 || String(limit, radix: 16).count > 15))
    }

    /// Counted, not timed: appending one byte may move the earlier bytes only when the capacity doubles.
    @Test func `LOOK-60 a form with one name many times is written in room that grows by doubling`() {
        var bytes: [UInt8] = []
        var moves = 0
        var capacity = bytes.capacity
        for _ in 0..<100_000 {
            PercentEscaping.escape("a", into: &bytes)
            if bytes.capacity != capacity { moves += 1 }
            capacity = bytes.capacity
        }
        #expect(bytes.count == 100_000)
        #expect(moves < 40)
    }

    @Test func `LOOK-60 a form of a million nulls of one name is a form again`() throws {
        let form = String(repeating: "a&", count: 1_000_000) + "a"
        let head = RequestHead(
            method: "POST", target: .origin(path: "/"),
            fields: ["Content-Type": "application/x-www-form-urlencoded"])
        let value = try IncomingParameters.read(head, body: Array(form.utf8))
        let request = try HTTPRequestSerializer().serialize(head, parameters: value)
        #expect(request.body.map { String(decoding: $0, as: UTF8.self) } == form)
    }

    /// `String` hashes runs of combining marks in quadratic time: this key would take hours.
    @Test func `a property list's key of combining marks is refused at once`() {
        let key = String(repeating: "\u{301}\u{316}", count: 500_000)
        let units = Array(key.utf16)
        var list = Array("bplist00".utf8) + [0xD1, 1, 2]
        list += [0x6F, 0x12] + (0..<4).map { UInt8(truncatingIfNeeded: units.count >> (24 - 8 * $0)) }
        list += units.flatMap { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        let (last, table) = (list.count, list.count + 1)
        list.append(0x09)
        for place in [8, 11, last] { list += (0..<4).map { UInt8(truncatingIfNeeded: place >> (24 - 8 * $0)) } }
        list += [0, 0, 0, 0, 0, 0, 4, 1] + [0, 0, 0, 0, 0, 0, 0, 3] + [UInt8](repeating: 0, count: 8)
        list += (0..<8).map { UInt8(truncatingIfNeeded: table >> (56 - 8 * $0)) }
        let xml = Array("<plist version=\"1.0\"><dict><key>\(key)</key><true/></dict></plist>".utf8)
        for document in [list, xml] {
            let error = #expect(throws: PropertyListError.self) { try PropertyListReader.read(document) }
            #expect(error?.description == "the document has a key with over 30 combining marks in a row")
        }
        for format in [PropertyListWriter.Format.xml, .binary] {
            #expect(throws: SerializationError.self) {
                try PropertyListWriter.write(.dictionary([.init(key, 1)]), format: format)
            }
            #expect(throws: Never.self) { try PropertyListWriter.write(["a": .string(key)], format: format) }
        }
    }
}
