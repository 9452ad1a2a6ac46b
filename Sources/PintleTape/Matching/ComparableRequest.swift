// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleSerialization
internal import PintleSystem

/// The parts of a request that are compared with those of recordings, in a form in which equal requests are equal.
///
/// The parameters of a query are sorted by name. JSON is compared by its values, forms by their pairs; the boundary of a
/// multipart body does not matter. Other bodies are compared byte for byte.
struct ComparableRequest: Hashable {
    /// A body in its compared form.
    struct Body: Hashable {
        /// Two digests of the form, with seeds of this process.
        private let digests: [Int]

        init(_ bytes: [UInt8]) {
            self.digests = [0, 1].map { salt in
                var hasher = Hasher()
                hasher.combine(salt)
                bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
                hasher.combine(bytes.count)
                return hasher.finalize()
            }
        }
    }

    /// Nil if it does not matter, as the other parts.
    let method: String?
    let url: String?
    /// The values of the fields that matter, each as `name: value, value`.
    let fields: [String]
    let body: Body?

    /// - Parameter request: with its secrets masked.
    init(_ request: TapeRequest, _ rules: MatchRules) {
        self.method = rules.parts.contains(.method) ? request.method : nil
        self.url = rules.parts.contains(.url) ? Self.url(request.url, rules) : nil
        self.fields = rules.fields.map { "\($0): \(request.fields.values(of: $0).joined(separator: ", "))" }
        self.body = rules.parts.contains(.body) ? Body(ComparableBody(request, rules).bytes) : nil
    }

    private static func url(_ url: String, _ rules: MatchRules) -> String {
        let url = url.prefix { $0 != "#" }
        guard let mark = url.firstIndex(of: "?") else { return String(url) }
        let pairs = url[url.index(after: mark)...].split(separator: "&").map { pair in
            let name = pair.prefix { $0 != "=" }
            return (PercentEscaping.unescape(String(name), plusIsSpace: true) ?? String(name), pair)
        }
        let kept = pairs.filter { !rules.ignoredQuery.contains($0.0) }
        // The order of parameters of one name is kept.
        let sorted = kept.enumerated().sorted { ($0.element.0, $0.offset) < ($1.element.0, $1.offset) }
        guard !sorted.isEmpty else { return String(url[..<mark]) }
        return url[...mark] + sorted.map { String($0.element.1) }.joined(separator: "&")
    }

    /// The parts in which two requests differ.
    func differences(from other: ComparableRequest) -> [Difference] {
        var found: [Difference] = []
        if self.method != other.method { found.append(.method) }
        if self.url != other.url { found.append(.url) }
        for index in self.fields.indices where self.fields[index] != other.fields[index] { found.append(.field(index)) }
        if self.body != other.body { found.append(.body) }
        return found
    }

    enum Difference: Hashable {
        case method, url, body
        /// The selection that the answer needs; see ``RequestSelection``.
        case selection
        /// The index in ``fields``.
        case field(Int)
    }
}

/// The body of a request in the form that is compared.
struct ComparableBody {
    /// The values of a JSON document, without those that do not matter.
    let document: Parameter?
    let bytes: [UInt8]

    init(_ request: TapeRequest, _ rules: MatchRules) {
        self.init(request.body, type: request.fields[.contentType], rules)
    }

    init(_ body: [UInt8], type: String?, _ rules: MatchRules) {
        let essence = type.map(MediaType.essence) ?? ""
        let first = body.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        // Many clients send JSON with another type.
        let mayBeJSON = MediaType.isJSON(essence) || first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        if mayBeJSON, let document = try? JSONScanner(fragmentsAllowed: true).parse(body) {
            let values = Self.comparable(document, rules.ignoredJSON.map { $0[...] })
            self.document = values
            self.bytes = (try? JSONWriter.write(values, options: [.sortedKeys, .fragmentsAllowed])) ?? body
            return
        }
        self.document = nil
        switch essence {
        case "application/x-www-form-urlencoded": self.bytes = Self.form(body)
        case _ where essence.hasPrefix("multipart/"): self.bytes = Self.withoutBoundary(body)
        default: self.bytes = body
        }
    }

    /// Numbers of one value have one form, and members that do not matter are gone.
    private static func comparable(_ value: Parameter, _ ignored: [ArraySlice<String>]) -> Parameter {
        func inner(_ name: String) -> [ArraySlice<String>] {
            if ignored.isEmpty { return [] }
            // A name of a peer's may be one endless character, which takes quadratic time to compare.
            let name = name.streamSafe
            return ignored.compactMap { $0.first == name ? $0.dropFirst() : nil }
        }
        switch value {
        case .number(let number): return Int64(exactly: number).map { .integer($0) } ?? value
        case .dictionary(let entries):
            return .dictionary(
                entries.compactMap { entry in
                    let rests = inner(entry.key)
                    if rests.contains(where: \.isEmpty) { return nil }
                    return Parameter.Entry(entry.key, Self.comparable(entry.value, rests))
                })
        case .array(let elements):
            return .array(
                elements.enumerated().map { index, element in
                    let rests = inner(String(index))
                    // The element keeps its place, so that those behind it keep theirs.
                    return rests.contains(where: \.isEmpty) ? .null : Self.comparable(element, rests)
                })
        default: return value
        }
    }

    /// The pairs in their order, each unescaped and escaped in one way.
    private static func form(_ body: [UInt8]) -> [UInt8] {
        let pairs = body.split(separator: UInt8(ascii: "&")).map { pair in
            pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false).map { part in
                PercentEscaping.escape(
                    PercentEscaping.unescape(String(decoding: part, as: UTF8.self), plusIsSpace: true)
                        ?? String(decoding: part, as: UTF8.self))
            }.joined(separator: "=")
        }
        return Array(pairs.joined(separator: "&").utf8)
    }

    /// The boundary is the first line, and clients choose it at random.
    private static func withoutBoundary(_ body: [UInt8]) -> [UInt8] {
        guard let end = body.firstIndex(of: 0x0D), end > 2, body.starts(with: Array("--".utf8)) else { return body }
        let boundary = Array(body[..<end])
        var (result, index) = ([UInt8](), 0)
        result.reserveCapacity(body.count)
        while index < body.count {
            let isLineStart = index == 0 || body[index - 1] == 0x0A
            if isLineStart, body[index...].starts(with: boundary) {
                result += Array("--".utf8)
                index += boundary.count
            } else {
                result.append(body[index])
                index += 1
            }
        }
        return result
    }
}

extension ComparableBody {
    /// The first difference from the body of a recording, as a clause.
    func difference(from recorded: ComparableBody) -> String {
        if let here = self.document, let there = recorded.document {
            guard let found = Self.difference(here, there) else { return "its JSON differs" }
            let path = found.place.reversed().map { "/\($0)" }.joined()
            return "\(path.isEmpty ? "/" : path) \(found.words)"
        }
        let count = zip(self.bytes, recorded.bytes).prefix { $0 == $1 }.count
        return
            "it has \(self.bytes.count) bytes here and \(recorded.bytes.count) there, which differ from byte \(count)"
    }

    /// The first difference: its place, from the inside to the outside, and the words that follow it. A client may send objects with
    /// hundreds of thousands of members.
    private static func difference(_ here: Parameter, _ there: Parameter) -> (place: [String], words: String)? {
        switch (here, there) {
        case (.dictionary(let members), .dictionary(let others)):
            let values = Dictionary(
                others.map { (ExactName($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
            for member in members {
                guard let other = values[ExactName(member.key)] else { return ([member.key], "is only here") }
                if let found = self.difference(member.value, other) {
                    return (found.place + [member.key], found.words)
                }
            }
            let names = Set(members.map { ExactName($0.key) })
            return others.first { !names.contains(ExactName($0.key)) }.map { ([$0.key], "is only there") }
        case (.array(let elements), .array(let others)):
            for (index, pair) in zip(elements, others).enumerated() {
                if let found = self.difference(pair.0, pair.1) { return (found.place + ["\(index)"], found.words) }
            }
            guard elements.count != others.count else { return nil }
            return ([], "has \(elements.count) elements here and \(others.count) there")
        case (.string(let text), .string(let other)) where ExactName.areEqual(text, other): return nil
        case (.string, .string): return ([], "is \(Self.shown(here)) here and \(Self.shown(there)) there")
        default: return here == there ? nil : ([], "is \(Self.shown(here)) here and \(Self.shown(there)) there")
        }
    }

    private static func shown(_ value: Parameter) -> String {
        switch value {
        case .array: return "an array"
        case .dictionary: return "an object"
        default:
            let bytes = (try? JSONWriter.write(value, options: .fragmentsAllowed)) ?? []
            return String(decoding: bytes.prefix(60), as: UTF8.self) + (bytes.count > 60 ? "…" : "")
        }
    }
}
