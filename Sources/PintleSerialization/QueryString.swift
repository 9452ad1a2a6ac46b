// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The `name=value&name=value` text of queries and forms, with nesting written as `a[b][]`.
public enum QueryString {
    /// One flattened value: the unescaped name that results from nesting, and a value that is not a container.
    public struct Pair: Sendable, Equatable {
        /// The name: `a`, `a[b]`, `a[]`; empty for a value without a container.
        public var name: String
        /// The value; never an array, set or dictionary.
        public var value: Parameter

        /// Makes a pair.
        public init(_ name: String, _ value: Parameter) {
            self.name = name
            self.value = value
        }
    }

    /// The maximum number of levels of containers in a query.
    public static let nestingLimit = 512
    /// The maximum size of all names in a query together, in bytes before escaping, including those of containers. Each
    /// value has its whole name, so one long key around many values would make a huge query.
    public static let nameLimit = 32 << 20

    /// Flattens `parameter` into pairs.
    ///
    /// Dictionaries are visited by key in the order of UTF-16 code units, and name their values `name[key]`; arrays are
    /// visited in their own order, and name their elements `name[]`; sets are sorted by the text of their members, which
    /// all have the name of the set. Empty containers produce no pair.
    ///
    /// - Throws: `.unserializable` for an array or set at the top, which has no name to repeat, for nesting beyond
    ///   ``nestingLimit``, and for names beyond ``nameLimit``.
    public static func pairs(of parameter: Parameter) throws(SerializationError) -> [Pair] {
        try Self.pairs(of: parameter) { (_) throws(Mismatch) in }
    }

    /// Flattens `parameter` into pairs. Calls `check` for each value, and adds the value's path to its error.
    static func pairs(
        of parameter: Parameter, check: (Parameter) throws(Mismatch) -> Void
    ) throws(SerializationError) -> [Pair] {
        switch parameter {
        case .array, .set:
            throw Mismatch("a list has no name at the top of a query; put it into a dictionary.").error
        case .null, .bool, .integer, .number, .decimal, .string, .data, .date, .file, .dictionary: break
        }
        var pairs: [Pair] = []
        var room = Self.nameLimit
        do throws(Mismatch) {
            try Self.flatten(parameter, name: nil, depth: 0, into: &pairs, room: &room, check: check)
        } catch {
            throw error.error
        }
        return pairs
    }

    /// Writes `parameter` as a query: ``pairs(of:)`` escaped by `PercentEscaping`, joined by `&`.
    ///
    /// Booleans are `1` and `0`; null is a name without `=`. The result is ASCII and may be empty.
    ///
    /// - Throws: `.unserializable` as ``pairs(of:)`` does, and with the path of the value for bytes, dates and files.
    public static func encode(_ parameter: Parameter) throws(SerializationError) -> String {
        var bytes: [UInt8] = []
        for (index, pair) in try Self.pairs(of: parameter, check: Self.checkHasText).enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: "&")) }
            PercentEscaping.escape(pair.name, into: &bytes)
            if pair.value == .null { continue }
            guard let text = pair.value.text else { preconditionFailure("BUG: a value without text was let through") }
            bytes.append(UInt8(ascii: "="))
            PercentEscaping.escape(text, into: &bytes)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func checkHasText(_ value: Parameter) throws(Mismatch) {
        switch value {
        case .data: throw Mismatch("bytes have no form in a query; only multipart carries them.")
        case .date: throw Mismatch("a date has no form in a query; write text or a number.")
        case .file: throw Mismatch("a file has no form in a query; only multipart carries files.")
        case .null, .bool, .integer, .number, .decimal, .string, .array, .set, .dictionary: break
        }
    }

    private static func flatten(
        _ parameter: Parameter, name: String?, depth: Int, into pairs: inout [Pair], room: inout Int,
        check: (Parameter) throws(Mismatch) -> Void
    ) throws(Mismatch) {
        guard depth <= Self.nestingLimit else { throw .nesting(beyond: Self.nestingLimit) }
        // Containers count as well: an empty one produces no pair, but its name has been built.
        room -= name?.utf8.count ?? 0
        guard room >= 0 else { throw .names(beyond: Self.nameLimit) }
        switch parameter {
        case .dictionary(let entries):
            for entry in entries.sorted(by: { $0.key.precedesByCodeUnit($1.key) }) {
                let child = name.map { "\($0)[\(entry.key)]" } ?? entry.key
                do throws(Mismatch) {
                    try Self.flatten(
                        entry.value, name: child, depth: depth + 1, into: &pairs, room: &room, check: check)
                } catch {
                    throw error.inside(.key(entry.key))
                }
            }
        case .array(let elements):
            let child = "\(name ?? "")[]"
            for (index, element) in elements.enumerated() {
                do throws(Mismatch) {
                    try Self.flatten(element, name: child, depth: depth + 1, into: &pairs, room: &room, check: check)
                } catch {
                    throw error.inside(.index(index))
                }
            }
        case .set(let members):
            pairs += try Self.sorted(members, name: name ?? "", depth: depth, room: &room, check: check)
        case .null, .bool, .integer, .number, .decimal, .string, .data, .date, .file:
            try check(parameter)
            pairs.append(Pair(name ?? "", parameter))
        }
    }

    /// Returns the pairs of a set, sorted by the text of its members; the text of a container is that of its pairs. Members
    /// without text, and those with equal text, keep their order.
    private static func sorted(
        _ members: [Parameter], name: String, depth: Int, room: inout Int, check: (Parameter) throws(Mismatch) -> Void
    ) throws(Mismatch) -> [Pair] {
        var groups: [(text: String, index: Int, pairs: [Pair])] = []
        for (index, member) in members.enumerated() {
            var pairs: [Pair] = []
            do throws(Mismatch) {
                try Self.flatten(member, name: name, depth: depth + 1, into: &pairs, room: &room, check: check)
            } catch {
                throw error.inside(.index(index))
            }
            let text =
                member.text
                ?? pairs.map { pair in
                    let rest = String(decoding: pair.name.utf8.dropFirst(name.utf8.count), as: UTF8.self)
                    return "\(rest)=\(pair.value.text ?? "")"
                }.joined(separator: "&")
            groups.append((text, index, pairs))
        }
        groups.sort {
            $0.text.precedesByCodeUnit($1.text) || ($0.index < $1.index && !$1.text.precedesByCodeUnit($0.text))
        }
        return groups.flatMap(\.pairs)
    }
}

extension Parameter {
    /// The value as plain text, as in queries and multipart forms; nil for bytes, dates, files and containers.
    ///
    /// Null is empty. A whole `Double` has no fraction, as in JSON clients: `2`, not `2.0`.
    public var text: String? {
        switch self {
        case .null: ""
        case .bool(let value): value ? "1" : "0"
        case .integer(let value): String(value)
        case .number(let value): Int64(exactly: value).map { String($0) } ?? value.description
        case .decimal(let text), .string(let text): text
        case .data, .date, .file, .array, .set, .dictionary: nil
        }
    }
}
