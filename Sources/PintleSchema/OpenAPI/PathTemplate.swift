// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// A path of an OpenAPI document, such as `/pets/{id}`, split into segments.
struct PathTemplate: Sendable {
    /// A text that stands for itself, or a name in braces, which stands for at least one character.
    enum Piece: Sendable, Equatable {
        case text([UInt8])
        case parameter(String)
    }

    private let segments: [[Piece]]

    /// - Returns: nil if `text` does not begin with a slash, or has an unmatched brace.
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
                pieces.append(.text(PercentEscaping.unescapeWhole(text)))
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

    /// The template without its names: two templates with the same shape match the same paths.
    var shape: String {
        self.segments.map { pieces in
            "/"
                + pieces.map { if case .text(let text) = $0 { String(decoding: text, as: UTF8.self) } else { "{}" } }
                .joined()
        }.joined()
    }

    /// True if this is tried before `other`: concrete before templated, from the first segment on.
    func precedes(_ other: PathTemplate) -> Bool {
        func rank(_ pieces: [Piece]) -> Int {
            if case .parameter? = pieces.first, pieces.count == 1 { return 2 }
            return pieces.allSatisfy { if case .text = $0 { true } else { false } } ? 0 : 1
        }
        return self.segments.map(rank).lexicographicallyPrecedes(other.segments.map(rank))
    }

    // MARK: Matching

    /// The segments of a path as received, with escapes decoded.
    static func segments(of path: Substring) -> [[UInt8]] {
        Array(path.utf8).dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map(PercentEscaping.unescapeWhole)
    }

    /// The values of the parameters; nil if the path does not match.
    func match(_ path: ArraySlice<[UInt8]>) -> [String: String]? {
        guard path.count == self.segments.count else { return nil }
        var values: [String: String] = [:]
        for (pieces, segment) in zip(self.segments, path) {
            guard Self.match(pieces, segment[...], &values) else { return nil }
        }
        return values
    }

    /// Each name takes as little as possible: the text after it is found at its first place. Only a name before the last text
    /// takes as much as possible.
    private static func match(
        _ pieces: [Piece], _ segment: ArraySlice<UInt8>, _ values: inout [String: String]
    ) -> Bool {
        var rest = segment
        var open: String?
        for (index, piece) in pieces.enumerated() {
            switch piece {
            case .parameter(let name):
                // For two names side by side, the first takes one character.
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
}
