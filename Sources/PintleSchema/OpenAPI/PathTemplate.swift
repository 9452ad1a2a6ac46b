// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// A path of an OpenAPI document, such as `/pets/{id}`, taken apart into segments.
struct PathTemplate: Sendable {
    /// Texts that stand for themselves and names in braces that stand for one character at least.
    enum Piece: Sendable, Equatable {
        case text([UInt8])
        case parameter(String)
    }

    private let segments: [[Piece]]

    /// - Returns: nil where `text` does not begin with a slash, or has a brace without the other.
    init?(_ text: String) {
        guard text.hasPrefix("/") else { return nil }
        var segments: [[Piece]] = []
        for part in Array(text.utf8).dropFirst().split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        {
            guard let pieces = Self.pieces(of: part) else { return nil }
            segments.append(pieces)
        }
        self.segments = segments
    }

    private static func pieces(of segment: ArraySlice<UInt8>) -> [Piece]? {
        var pieces: [Piece] = []
        var rest = segment
        while let first = rest.first {
            if first == UInt8(ascii: "{") {
                guard let end = rest.firstIndex(of: UInt8(ascii: "}")), end > rest.startIndex + 1 else { return nil }
                let name = rest[..<end].dropFirst()
                guard !name.contains(UInt8(ascii: "{")) else { return nil }
                pieces.append(.parameter(String(decoding: name, as: UTF8.self)))
                rest = rest[(end + 1)...]
            } else {
                let text = rest.prefix { $0 != UInt8(ascii: "{") }
                guard !text.contains(UInt8(ascii: "}")) else { return nil }
                pieces.append(.text(Self.decoded(text)))
                rest = rest[text.endIndex...]
            }
        }
        return pieces
    }

    /// The names in braces.
    var parameters: [String] {
        self.segments.flatMap { pieces in
            pieces.compactMap { if case .parameter(let name) = $0 { name } else { nil } }
        }
    }

    /// The template without its names: two that share it match the same paths.
    var shape: String {
        self.segments.map { pieces in
            "/"
                + pieces.map { if case .text(let text) = $0 { String(decoding: text, as: UTF8.self) } else { "{}" } }
                .joined()
        }.joined()
    }

    /// Whether this is to be tried before `other`: concrete before templated, from the first segment on.
    func precedes(_ other: PathTemplate) -> Bool {
        func rank(_ pieces: [Piece]) -> Int {
            if case .parameter? = pieces.first, pieces.count == 1 { return 2 }
            return pieces.allSatisfy { if case .text = $0 { true } else { false } } ? 0 : 1
        }
        return self.segments.map(rank).lexicographicallyPrecedes(other.segments.map(rank))
    }

    // MARK: Matching

    /// The segments of a path as it came, escapes decoded.
    static func segments(of path: Substring) -> [[UInt8]] {
        Array(path.utf8).dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map(Self.decoded)
    }

    /// The values of the parameters, or nil where the path is another.
    func match(_ path: ArraySlice<[UInt8]>) -> [String: String]? {
        guard path.count == self.segments.count else { return nil }
        var values: [String: String] = [:]
        for (pieces, segment) in zip(self.segments, path) {
            guard Self.match(pieces, segment[...], &values) else { return nil }
        }
        return values
    }

    /// Each name takes as little as it can; texts between names are found at their first place. A name takes as much as
    /// there is before the last text.
    private static func match(
        _ pieces: [Piece], _ segment: ArraySlice<UInt8>, _ values: inout [String: String]
    ) -> Bool {
        var rest = segment
        var open: String?
        for (index, piece) in pieces.enumerated() {
            switch piece {
            case .parameter(let name):
                // Two names side by side: the first takes one character.
                if let earlier = open {
                    guard !rest.isEmpty else { return false }
                    values[earlier] = String(decoding: rest.prefix(1), as: UTF8.self)
                    rest = rest.dropFirst()
                }
                open = name
            case .text(let text):
                guard let name = open else {
                    guard rest.starts(with: text) else { return false }
                    rest = rest.dropFirst(text.count)
                    continue
                }
                let isLast = index == pieces.count - 1
                let start = isLast ? rest.endIndex - text.count : Self.first(text, in: rest.dropFirst())
                guard let start, start > rest.startIndex, rest[start...].starts(with: text) else { return false }
                values[name] = String(decoding: rest[..<start], as: UTF8.self)
                rest = rest[(start + text.count)...]
                open = nil
            }
        }
        guard let name = open else { return rest.isEmpty }
        values[name] = String(decoding: rest, as: UTF8.self)
        return !rest.isEmpty
    }

    private static func first(_ text: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        bytes.indices.first { bytes[$0...].starts(with: text) }
    }

    /// The bytes with their escapes decoded; a broken escape stays.
    private static func decoded(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2).compactMap(ASCII.hexValue)
            if byte == UInt8(ascii: "%"), digits.count == 2 {
                result.append(digits[0] << 4 | digits[1])
                rest = rest.dropFirst(2)
            } else {
                result.append(byte)
            }
        }
        return result
    }
}
