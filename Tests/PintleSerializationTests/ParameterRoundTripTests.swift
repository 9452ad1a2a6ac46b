// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSerialization
import PintleTesting
import Testing

/// Values written in a format read back the same, except for distinctions that the format lacks: in a query and in
/// multipart all values are text or bytes, sets are sorted, and empty containers vanish.
@Suite struct ParameterRoundTripTests {
    private static let seeds: [UInt64] = [1, 2, 3, 4, 5, 6, 7, 8]

    private func read(_ body: [UInt8], _ type: String?) throws -> Parameter? {
        try IncomingParameters.read(request("POST", "/", type.map { ["Content-Type": $0] } ?? [:]), body: body)
    }

    private func trip(_ parameter: Parameter, _ serializer: some RequestSerializer) throws -> Parameter? {
        let written = try serializer.serialize(request("POST"), parameters: parameter)
        return try self.read(try #require(written.body), written.head.fields["Content-Type"])
    }

    /// A dictionary that a form can tell apart from every other: names without brackets, in the order of a query.
    private static func form(depth: Int, hasBytes: Bool, _ random: inout SeededGenerator) -> Parameter {
        let entries = (0..<Int.random(in: 1...4, using: &random)).map { index in
            Parameter.Entry("\(index)\(Self.name(&random))", Self.value(depth: depth, hasBytes, &random))
        }
        return .dictionary(entries)
    }

    private static func name(_ random: inout SeededGenerator) -> String {
        String(
            RandomParameter.string(&random).unicodeScalars.filter {
                $0.value >= 0x20 && !"[]%\u{7F}".unicodeScalars.contains($0)
            })
    }

    private static func value(depth: Int, _ hasBytes: Bool, _ random: inout SeededGenerator) -> Parameter {
        switch Int.random(in: 0...(depth > 0 ? 6 : 3), using: &random) {
        case 0 where hasBytes: return .data([0xFF] + bytes(RandomParameter.string(&random)))
        case 1 where hasBytes:
            return .file(
                FilePart(bytes(RandomParameter.string(&random)), fileName: Self.name(&random), mediaType: "a/b"))
        case 2:
            return .set(
                ["\(RandomParameter.string(&random))", "\u{FFFF}\u{FFFF}"].sorted {
                    $0.utf16.lexicographicallyPrecedes($1.utf16)
                }.map { .string($0) })
        case 4: return .array((0..<3).map { .string("\($0)" + RandomParameter.string(&random)) })
        case 5: return Self.form(depth: depth - 1, hasBytes: hasBytes, &random)
        case 6:
            // Each element brings the same member, so that the next one begins.
            return .array((0..<2).map { _ in ["0": Self.value(depth: 0, hasBytes, &random).single, "1": "x"] })
        default: return .string(RandomParameter.string(&random))
        }
    }

    @Test(arguments: Self.seeds) func `a query is read back`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let parameter = Self.form(depth: 3, hasBytes: false, &random)
            #expect(try self.trip(parameter, HTTPRequestSerializer()) == parameter, "seed \(seed)")
        }
    }

    @Test(arguments: Self.seeds) func `multipart is read back with its bytes and files`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let parameter = Self.form(depth: 3, hasBytes: true, &random)
            #expect(try self.trip(parameter, MultipartRequestSerializer()) == parameter, "seed \(seed)")
        }
    }

    @Test(arguments: Self.seeds) func `JSON is read back`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let parameter = RandomParameter.document(depth: 4, &random)
            #expect(try self.trip(parameter, JSONRequestSerializer()) == parameter, "seed \(seed)")
        }
    }

    @Test(arguments: Self.seeds) func `property lists are read back with their dates`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let parameter = Self.propertyList(depth: 3, &random)
            for format in [PropertyListWriter.Format.xml, .binary] {
                let serializer = PropertyListRequestSerializer(format: format)
                #expect(try self.trip(parameter, serializer) == parameter, "seed \(seed)")
            }
        }
    }

    private static func propertyList(depth: Int, _ random: inout SeededGenerator) -> Parameter {
        switch Int.random(in: 0...(depth > 0 ? 8 : 6), using: &random) {
        case 0: return .bool(Bool.random(using: &random))
        case 1: return .integer(Int64(truncatingIfNeeded: random.next()))
        case 2: return .decimal("\(UInt64(Int64.max) + 1 + random.next() >> 2)")
        case 3: return .number(Double(random.next()) / 4096)
        case 4: return .data((0..<4).map { _ in UInt8.random(in: 0...255, using: &random) })
        case 5: return .date(Double(Int64.random(in: -60_000_000_000...250_000_000_000, using: &random)))
        case 6: return .string(Self.name(&random).replacing("\u{FFFF}", with: "x"))
        case 7: return .array((0..<3).map { _ in Self.propertyList(depth: depth - 1, &random) })
        default:
            return .dictionary((0..<3).map { .init("\($0)ä", Self.propertyList(depth: depth - 1, &random)) })
        }
    }

    // MARK: Hostile bytes

    private static let types = [
        "application/x-www-form-urlencoded", "multipart/form-data; boundary=b", "application/json",
        "application/x-plist",
    ]

    @Test(arguments: Self.types, Self.seeds) func `no bytes make a reader trap`(type: String, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let pieces =
            [
                "&", "=", "%", "%5B", "%5D", "[", "]", "a", "%zz", "+", "\r\n", "--b", "--b\r\n", "--b--", "\"", ";",
                "{", "}",
            ]
            + [
                "Content-Disposition: form-data; name=\"a\"\r\n\r\n", "bplist00", "<plist>", "<dict>", "</", "\u{0}",
                "ä",
            ]
        for _ in 0..<400 {
            var body: [UInt8] = []
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                body += bytes(pieces.randomElement(using: &random) ?? "")
                if Int.random(in: 0...4, using: &random) == 0 { body.append(.random(in: 0...255, using: &random)) }
            }
            _ = try? self.read(body, type)
        }
    }

    @Test(arguments: Self.seeds) func `mutations of good bodies never trap`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let serializers: [any RequestSerializer] = [
            HTTPRequestSerializer(), MultipartRequestSerializer(), JSONRequestSerializer(),
            PropertyListRequestSerializer(), PropertyListRequestSerializer(format: .binary),
        ]
        for serializer in serializers {
            let written = try serializer.serialize(
                request("POST"), parameters: ["a": ["b": ["x", "y"], "c": "ä"], "d": [["e": 1], ["e": "2"]]])
            let body = try #require(written.body)
            for _ in 0..<200 {
                var mutated = body
                for _ in 0..<Int.random(in: 1...4, using: &random) where !mutated.isEmpty {
                    let place = Int.random(in: 0..<mutated.count, using: &random)
                    switch Int.random(in: 0...2, using: &random) {
                    case 0: mutated[place] = .random(in: 0...255, using: &random)
                    case 1: mutated.remove(at: place)
                    default: mutated.insert(contentsOf: mutated[place...].prefix(9), at: place)
                    }
                }
                _ = try? self.read(mutated, written.head.fields["Content-Type"])
            }
        }
    }
}

extension Parameter {
    /// The first member of a set: as an element of an array, a set with more members would read back as further elements.
    fileprivate var single: Parameter {
        guard case .set(let members) = self else { return self }
        return members.first ?? .null
    }
}
