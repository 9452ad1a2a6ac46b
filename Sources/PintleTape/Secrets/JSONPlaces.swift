// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization
internal import PintleSystem

/// Finds values within the bytes of a JSON document, so that they can be replaced without writing the rest anew.
struct JSONPlaces {
    private let bytes: [UInt8]
    private let paths: [[String]]
    private var found: [Range<Int>] = []
    private var index = 0

    /// Returns the places of the values to which the paths lead, in their order; none of them contains another.
    ///
    /// - Parameter bytes: any bytes; there is no place in those that are no JSON in UTF-8.
    static func find(_ paths: [[String]], in bytes: [UInt8]) -> [Range<Int>] {
        // The check makes sure that the walk below meets nothing malformed, and bounds its depth.
        guard !paths.isEmpty, (try? JSONScanner(fragmentsAllowed: true).validate(bytes)) != nil, bytes.first != 0xEF,
            !bytes.contains(0)
        else { return [] }
        var places = JSONPlaces(bytes, paths)
        places.value(paths[...].map { $0[...] })
        return places.found
    }

    private init(_ bytes: [UInt8], _ paths: [[String]]) { (self.bytes, self.paths) = (bytes, paths) }

    private mutating func skipBlanks() {
        while self.index < self.bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(self.bytes[self.index]) {
            self.index += 1
        }
    }

    /// - Parameter rests: the segments that are left of the paths that lead here or further.
    private mutating func value(_ rests: [ArraySlice<String>]) {
        self.skipBlanks()
        let start = self.index
        let isWanted = rests.contains { $0.isEmpty }
        let inner = isWanted ? [] : rests
        guard self.index < self.bytes.count else { return }
        switch self.bytes[self.index] {
        case UInt8(ascii: "{"): self.members(inner, end: UInt8(ascii: "}"), isObject: true)
        case UInt8(ascii: "["): self.members(inner, end: UInt8(ascii: "]"), isObject: false)
        case UInt8(ascii: "\""): _ = self.string()
        default:
            while self.index < self.bytes.count, !Self.endsScalar(self.bytes[self.index]) { self.index += 1 }
        }
        if isWanted { self.found.append(start..<self.index) }
    }

    private static func endsScalar(_ byte: UInt8) -> Bool { " \t\r\n,]}".utf8.contains(byte) }

    private mutating func members(_ rests: [ArraySlice<String>], end: UInt8, isObject: Bool) {
        self.index += 1
        var number = 0
        while true {
            self.skipBlanks()
            guard self.index < self.bytes.count else { return }
            if self.bytes[self.index] == UInt8(ascii: ",") {
                self.index += 1
                continue
            }
            if self.bytes[self.index] == end {
                self.index += 1
                return
            }
            var name = String(number)
            if isObject {
                // A name of a peer's may be one endless character, which takes quadratic time to compare.
                name = self.string().streamSafe
                self.skipBlanks()
                self.index += 1
            }
            self.value(rests.filter { $0.first == name }.map { $0.dropFirst() })
            number += 1
        }
    }

    /// Reads a string, and returns its text.
    private mutating func string() -> String {
        let start = self.index
        self.index += 1
        while self.index < self.bytes.count, self.bytes[self.index] != UInt8(ascii: "\"") {
            self.index += self.bytes[self.index] == UInt8(ascii: "\\") ? 2 : 1
        }
        self.index = min(self.index + 1, self.bytes.count)
        let text = Array(self.bytes[start..<self.index])
        guard text.contains(UInt8(ascii: "\\")) else {
            return String(decoding: text.dropFirst().dropLast(), as: UTF8.self)
        }
        guard case .string(let name)? = try? JSONScanner(fragmentsAllowed: true).parse(text) else { return "" }
        return name
    }
}
