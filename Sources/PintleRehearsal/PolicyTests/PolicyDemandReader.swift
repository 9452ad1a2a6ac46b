// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleMessage
internal import PintlePolicy
internal import PintleSchema
internal import PintleSerialization

/// Reads `expect` and `violations`.
enum PolicyDemandReader {
    private enum Decision: String, CaseIterable {
        case allow, deny, ask, reject, error
        case wouldDeny = "would-deny"
    }

    private enum Source: String, CaseIterable {
        case origin, mock, fault, recording, pintle
    }

    private enum PinResult: String, CaseIterable {
        case match, mismatch, none
    }

    static func read(_ map: StrictMap, into test: inout PolicyTest) {
        for fact in PolicyTest.Fact.allCases {
            guard let node = map[fact.rawValue], let expected = self.expected(node, of: fact) else { continue }
            test.facts.append(PolicyTest.FactDemand(fact: fact, expected: expected, position: node.position))
        }
        for entry in map["headers"]?.entries() ?? [] {
            guard FieldSyntax.isName(entry.key) else {
                entry.value.report("is not the name of a header field")
                continue
            }
            let nodes = entry.value.isList ? entry.value.list() ?? [] : [entry.value]
            let expected = nodes.compactMap(self.text)
            guard expected.count == nodes.count else { continue }
            if nodes.isEmpty {
                entry.value.report("an empty list expects nothing; write absent for a field that is not there")
            }
            test.fields.append(
                PolicyTest.FieldDemand(name: entry.key, expected: expected, position: entry.position))
        }
        if let node = map["body"], let text = self.text(node) {
            test.body = PolicyTest.BodyDemand(content: .text(text), position: node.position)
        }
        if let node = map["json"] {
            if map["body"] != nil { node.report("and body expect the same content in two forms; leave one out") }
            if let document = node.document() {
                test.body = PolicyTest.BodyDemand(content: .json(document), position: node.position)
            }
        }
    }

    /// Reads a demand on a fact. Words of a closed vocabulary are checked, so that a slip is no failing test.
    private static func expected(_ node: StrictNode, of fact: PolicyTest.Fact) -> ExpectedText? {
        if node.isScalar("absent") || node.isMap { return self.text(node) }
        switch fact {
        case .decision: return node.choice(Decision.self).map { .exact($0.rawValue) }
        case .problem, .would: return node.choice(Problem.Name.self).map { .exact($0.rawValue) }
        case .source: return node.choice(Source.self).map { .exact($0.rawValue) }
        case .pin: return node.choice(PinResult.self).map { .exact($0.rawValue) }
        case .trusted: return node.bool().map { .exact("\($0)") }
        case .status: return node.int(100...599).map { .exact("\($0)") }
        case .rule, .route, .upstream, .trust, .method, .simulation, .error: return self.text(node)
        }
    }

    /// Reads `absent`, `/pattern/`, `{exact: TEXT}`, `{pattern: TEXT}` or a text that is meant as it is.
    private static func text(_ node: StrictNode) -> ExpectedText? {
        if node.isMap {
            guard let map = node.map(PolicyTestKeys.text) else { return nil }
            guard map.entries.count == 1 else {
                node.report("must have one key: exact or pattern")
                return nil
            }
            return map["exact"]?.string().map { .exact($0) } ?? map["pattern"].flatMap { self.pattern($0) }
        }
        guard let text = node.string() else { return nil }
        if text == "absent" { return .absent }
        guard text.utf8.count > 2, text.hasPrefix("/"), text.hasSuffix("/") else { return .exact(text) }
        return self.pattern(node, isDelimited: true)
    }

    /// - Parameter isDelimited: true if the expression stands between slashes.
    private static func pattern(_ node: StrictNode, isDelimited: Bool = false) -> ExpectedText? {
        node.parsed { text throws(Malformed) in
            do throws(PatternError) {
                return .pattern(try Pattern(isDelimited ? String(text.dropFirst().dropLast()) : text))
            } catch {
                throw Malformed("is not a regular expression: \(error)")
            }
        }
    }

    /// Reads the names of violations.
    static func violations(_ node: StrictNode) -> [String]? {
        if node.isEmptyList { return [] }
        return node.values { $0.choice(ViolationKind.self)?.rawValue }
    }
}
