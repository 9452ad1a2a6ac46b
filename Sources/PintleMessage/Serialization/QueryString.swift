// SPDX-License-Identifier: Apache-2.0

/// The `name=value&name=value` text that queries and forms carry, with nesting written as `a[b][]`.
public enum QueryString {
    /// One flattened value: a name as nesting built it, not escaped, and a value that is no container.
    public struct Pair: Sendable, Equatable {
        /// `a`, `a[b]`, `a[]`; empty for a value that stands alone.
        public var name: String
        /// Never an array, set or dictionary.
        public var value: Parameter

        /// Makes a pair.
        public init(_ name: String, _ value: Parameter) {
            self.name = name
            self.value = value
        }
    }

    /// The most levels of containers that a query writes.
    public static let nestingLimit = 512

    /// Flattens `parameter` into pairs.
    ///
    /// Dictionaries are visited by key in the order of UTF-16 code units and name their values `name[key]`; arrays in
    /// their own order, as `name[]`; sets by the text of their members, under the same name. Empty containers vanish.
    ///
    /// - Throws: `.unserializable` for an array or set that has no name to repeat, which is the top one, and for
    ///   nesting beyond ``nestingLimit``.
    public static func pairs(of parameter: Parameter) throws(SerializationError) -> [Pair] {
        switch parameter {
        case .array, .set:
            throw SerializationError(
                .unserializable, "a list has no name at the top of a query; put it into a dictionary.",
                path: "parameters")
        case .null, .bool, .integer, .number, .decimal, .string, .data, .dictionary: break
        }
        var pairs: [Pair] = []
        try Self.flatten(parameter, name: nil, depth: 0, into: &pairs)
        return pairs
    }

    /// Writes `parameter` as a query: ``pairs(of:)`` escaped by ``PercentEscaping``, joined by `&`.
    ///
    /// Booleans are `1` and `0`; null is a name without `=`. The result is ASCII and may be empty.
    ///
    /// - Throws: `.unserializable` as ``pairs(of:)`` does, and for bytes, which have no text.
    public static func encode(_ parameter: Parameter) throws(SerializationError) -> String {
        var bytes: [UInt8] = []
        for (index, pair) in try Self.pairs(of: parameter).enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: "&")) }
            PercentEscaping.escape(pair.name, into: &bytes)
            if pair.value == .null { continue }
            guard let text = pair.value.text else {
                throw SerializationError(
                    .unserializable, "bytes have no form in a query; only multipart carries them.",
                    path: pair.name.isEmpty ? "parameters" : "parameters.\(pair.name)")
            }
            bytes.append(UInt8(ascii: "="))
            PercentEscaping.escape(text, into: &bytes)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func flatten(
        _ parameter: Parameter, name: String?, depth: Int, into pairs: inout [Pair]
    ) throws(SerializationError) {
        guard depth <= Self.nestingLimit else {
            throw SerializationError(
                .unserializable, "more than \(Self.nestingLimit) levels of nesting.", path: "parameters")
        }
        switch parameter {
        case .dictionary(let entries):
            for entry in entries.sorted(by: { $0.key.precedesByCodeUnit($1.key) }) {
                let child = name.map { "\($0)[\(entry.key)]" } ?? entry.key
                try Self.flatten(entry.value, name: child, depth: depth + 1, into: &pairs)
            }
        case .array(let elements):
            for element in elements {
                try Self.flatten(element, name: "\(name ?? "")[]", depth: depth + 1, into: &pairs)
            }
        case .set(let members):
            for member in try Self.sorted(members, depth: depth) {
                try Self.flatten(member, name: name ?? "", depth: depth + 1, into: &pairs)
            }
        case .null, .bool, .integer, .number, .decimal, .string, .data:
            pairs.append(Pair(name ?? "", parameter))
        }
    }

    /// Members by their text; a member that is a container is placed by the text of the pairs it becomes.
    private static func sorted(_ members: [Parameter], depth: Int) throws(SerializationError) -> [Parameter] {
        var keyed: [(text: String, member: Parameter)] = []
        for member in members {
            if let text = member.text {
                keyed.append((text, member))
            } else {
                var pairs: [Pair] = []
                try Self.flatten(member, name: "", depth: depth + 1, into: &pairs)
                keyed.append((pairs.map { "\($0.name)=\($0.value.text ?? "")" }.joined(separator: "&"), member))
            }
        }
        return keyed.sorted { $0.text.precedesByCodeUnit($1.text) }.map { $0.member }
    }
}

extension Parameter {
    /// The value as plain text, as queries and multipart forms write it; nil for bytes and containers.
    ///
    /// Null is empty. A whole `Double` is written without a fraction, as JSON clients write it: `2`, not `2.0`.
    public var text: String? {
        switch self {
        case .null: ""
        case .bool(let value): value ? "1" : "0"
        case .integer(let value): String(value)
        case .number(let value): Int64(exactly: value).map { String($0) } ?? value.description
        case .decimal(let text), .string(let text): text
        case .data, .array, .set, .dictionary: nil
        }
    }
}
