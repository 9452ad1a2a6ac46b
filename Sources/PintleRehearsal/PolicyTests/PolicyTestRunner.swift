// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
package import PintlePolicy
internal import PintleSchema
internal import PintleSerialization

/// The result of one test.
package struct PolicyTestResult: Sendable {
    /// A demand that is not met.
    package struct Difference: Sendable, Equatable {
        /// The key in `expect`, as in `headers.Cookie`; or `violations`.
        package let item: String
        /// The place of the demand in the test file.
        package let position: SourcePosition
        package let expected: String
        package let found: String
    }

    /// A reason for the treatment that was found.
    package struct Reason: Sendable, Equatable {
        package let text: String
        /// The place of the rule in the configuration.
        package let position: SourcePosition?
    }

    package let test: PolicyTest
    /// The demands that are not met, in the order of the keys.
    package let differences: [Difference]
    /// The reasons as `pintle explain` gives them; empty for a test that passes.
    package let reasons: [Reason]

    package var hasPassed: Bool { self.differences.isEmpty }
}

/// Runs policy tests against a configuration, and notes what they reach.
package struct PolicyTestRunner: Sendable {
    package let policy: Policy
    /// The parts of the configuration that the tests so far have reached.
    package private(set) var coverage: PolicyCoverage
    private let names: PolicyNames

    package init(_ policy: Policy) {
        self.policy = policy
        self.coverage = PolicyCoverage(policy)
        self.names = PolicyNames(policy)
    }

    /// Runs one test.
    package mutating func run(_ test: PolicyTest) -> PolicyTestResult {
        var comparison = DemandComparison(request: nil, policy: self.policy, names: self.names)
        comparison.request = test.request.map { RequestRehearsal($0, by: self.policy) }
        if let chain = test.chain { self.judge(chain, &comparison) }
        if let response = test.response { comparison.request?.receive(response) }
        let request = comparison.request
        if let request { self.coverage.note(request) }
        let differences = comparison.differences(from: test)
        guard !differences.isEmpty else { return PolicyTestResult(test: test, differences: [], reasons: []) }
        var reasons: [PolicyTestResult.Reason] = []
        if let asked = test.request { reasons += self.explanation(of: asked) }
        let words = (request?.reasons ?? []) + (comparison.chain?.reasons ?? [])
        reasons += words.map { PolicyTestResult.Reason(text: $0, position: nil) }
        return PolicyTestResult(test: test, differences: differences, reasons: reasons)
    }

    private mutating func judge(_ chain: PolicyTest.Chain, _ comparison: inout DemandComparison) {
        if let reason = comparison.request?.reasonAgainstChain {
            comparison.fault = "\(reason), so no chain is judged"
            return
        }
        do throws(Malformed) {
            let rehearsal = try ChainRehearsal(chain, meeting: comparison.request?.decision, by: self.policy)
            self.coverage.note(rehearsal)
            comparison.chain = rehearsal
            comparison.request?.meet(rehearsal)
        } catch {
            comparison.fault = error.reason
        }
    }

    private func explanation(of request: PolicyTest.Request) -> [PolicyTestResult.Reason] {
        // A request that is refused before any rule has its problem for a reason, which the caller adds.
        guard
            let explanation = try? Explanation(
                self.policy, request.head, of: request.client.identity(under: self.policy))
        else { return [] }
        return explanation.lines.map {
            PolicyTestResult.Reason(text: $0.description, position: $0.place)
        }
    }
}

/// The names that tests may expect, among which each of many tests looks for one.
private struct PolicyNames: Sendable {
    let routes: [String]
    let trust: [String]
    private let known: (routes: Set<String>, trust: Set<String>)

    init(_ policy: Policy) {
        self.routes = policy.routes.routes.map(\.name)
        self.trust = policy.configuration.trust.map(\.name) + ["system"]
        self.known = (Set(self.routes), Set(self.trust))
    }

    func have(route: String) -> Bool { self.known.routes.contains(route) }
    func have(trust: String) -> Bool { self.known.trust.contains(trust) }
}

/// Compares what was found with what a test demands.
private struct DemandComparison {
    var request: RequestRehearsal?
    let policy: Policy
    let names: PolicyNames
    var chain: ChainRehearsal?
    /// The reason why a chain could not be judged.
    var fault: String?

    private typealias Difference = PolicyTestResult.Difference

    func differences(from test: PolicyTest) -> [PolicyTestResult.Difference] {
        test.facts.compactMap(self.difference) + test.fields.compactMap(self.difference)
            + [test.body.flatMap(self.difference), test.violations.flatMap(self.difference)].compactMap { $0 }
    }

    private func difference(_ demand: PolicyTest.FactDemand) -> PolicyTestResult.Difference? {
        let fact = demand.fact
        let found = self.chain?.facts[fact] ?? self.request?.facts[fact]
        let shown = self.request?.facts[fact] == found ? self.request?.shown(fact) : found
        if fact == .rule, case .exact(let name) = demand.expected, let found,
            found.hasPrefix(name + " ") || found.hasPrefix(name + ",")
        {
            return nil
        }
        return self.difference(fact.rawValue, demand.position, demand.expected, found, shown, self.hint(demand))
    }

    /// An explanation for people if an expected name does not exist, or a fact cannot be known.
    private func hint(_ demand: PolicyTest.FactDemand) -> String? {
        if let fault, demand.fact.isOfChain { return fault }
        if demand.fact == .status, self.request?.facts[.status] == nil {
            return "the origin's; give the test a response"
        }
        guard case .exact(let name) = demand.expected else { return nil }
        let (names, kind): ([String], String)
        switch demand.fact {
        case .route where !self.names.have(route: name): (names, kind) = (self.names.routes, "route")
        case .trust where !self.names.have(trust: name): (names, kind) = (self.names.trust, "trust policy")
        default: return nil
        }
        let slip = name.nearest(of: names).map { "; did you mean \($0)?" } ?? ""
        return "the configuration has no \(kind) of this name\(slip)"
    }

    private func difference(
        _ item: String, _ position: SourcePosition, _ expected: ExpectedText, _ found: String?, _ shown: String?,
        _ hint: String? = nil
    ) -> PolicyTestResult.Difference? {
        let note: String?
        switch expected.compare(found) {
        case .keeps: return nil
        case .breaks: note = hint
        case .exhausted: note = "the expression takes too many steps for this text; write a simpler one"
        }
        let text = (shown ?? "absent") + (note.map { " (\($0))" } ?? "")
        return Difference(item: item, position: position, expected: expected.words, found: text)
    }

    private func difference(_ demand: PolicyTest.FieldDemand) -> PolicyTestResult.Difference? {
        let item = "headers.\(demand.name)"
        guard let request, let sent = request.sent else {
            return Difference(
                item: item, position: demand.position,
                expected: demand.expected.map(\.words).joined(separator: ", "), found: Self.noRequest)
        }
        let found = sent.head.fields.values(of: demand.name)
        let shown = request.shown(field: demand.name)
        if demand.expected.count == 1, found.count <= 1 {
            return self.difference(item, demand.position, demand.expected[0], found.first, shown.first)
        }
        let keeps =
            found.count == demand.expected.count
            && zip(demand.expected, found).allSatisfy { $0.compare($1) == .keeps }
        if keeps { return nil }
        return Difference(
            item: item, position: demand.position, expected: demand.expected.map(\.words).joined(separator: ", "),
            found: found.isEmpty ? "absent" : "\(found.count) lines: \(shown.joined(separator: ", "))")
    }

    private static let noRequest = "no request is made"

    private func difference(_ demand: PolicyTest.BodyDemand) -> PolicyTestResult.Difference? {
        guard let request, let sent = request.sent else {
            return Difference(item: "body", position: demand.position, expected: "a body", found: Self.noRequest)
        }
        let shown = Self.excerpt(request.shownBody)
        switch demand.content {
        case .text(let expected):
            let found = sent.body.isEmpty ? nil : String(decoding: sent.body, as: UTF8.self)
            return self.difference("body", demand.position, expected, found, found.map { _ in shown })
        case .json(let expected):
            let found = try? JSONScanner(fragmentsAllowed: true).parse(sent.body)
            if let found, JSONIdentity(found) == JSONIdentity(expected) { return nil }
            let bytes = (try? JSONWriter.write(expected, options: .fragmentsAllowed)) ?? []
            return Difference(
                item: "json", position: demand.position,
                expected: Self.excerpt(String(decoding: bytes, as: UTF8.self)),
                found: sent.body.isEmpty ? "absent" : found == nil ? "\(shown) (not JSON)" : shown)
        }
    }

    /// The beginning of a body, enough to see where it differs.
    private static func excerpt(_ text: String) -> String {
        text.unicodeScalars.count > 400 ? String(String.UnicodeScalarView(text.unicodeScalars.prefix(400))) + "…" : text
    }

    private func difference(_ demand: Located<[String]>) -> PolicyTestResult.Difference? {
        let found = (self.request?.violations ?? []).sorted()
        let expected = Array(Set(demand.value)).sorted()
        guard found != expected else { return nil }
        return Difference(
            item: "violations", position: demand.position, expected: Self.list(expected), found: Self.list(found))
    }

    private static func list(_ names: [String]) -> String { names.isEmpty ? "none" : names.joined(separator: ", ") }
}
