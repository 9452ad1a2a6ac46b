// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleMessage
package import PintlePolicy
internal import PintleSerialization
internal import PintleSystem

/// Writes policy tests from recorded exchanges: one for each distinct request and decision.
///
/// Each test passes with the configuration at hand. If that decides otherwise than the record says, the demand is left out,
/// and a comment tells both.
package struct PolicyTestWriter {
    /// The most tests of a file; the number of further ones is told in a comment.
    private static let testLimit = 10_000
    /// The longest body in bytes that is written into a test.
    private static let bodyLimit = 16 << 10

    private let policy: Policy
    private var seen: Set<String> = []
    private var names: Set<String> = []
    private var tests: [String] = []
    /// The number of exchanges that would have been further tests.
    private var surplus = 0
    /// The number of exchanges that no test can express.
    private var unwritable = 0

    package init(_ policy: Policy) { self.policy = policy }

    /// The file: comments, then the tests.
    ///
    /// - Parameters:
    ///   - source: the name of the record.
    ///   - summary: the numbers of what was read.
    package func text(of source: String, _ summary: TrafficReader.Summary) -> String {
        var lines = [
            Self.comment(
                "Written from \(source), \(Self.count(summary.exchanges, "exchange")). "
                    + "Parts that are redacted there are left out.")
        ]
        if let fault = summary.firstFault {
            lines.append(
                Self.comment("\(Self.count(summary.faults, "part")) could not be read; the first is \(fault)"))
        }
        if self.unwritable > 0 {
            let count = Self.count(self.unwritable, "exchange")
            lines.append("# Left out, without a URL that a test could ask for: \(count).")
        }
        if self.surplus > 0 {
            lines.append("# Left out, beyond \(Self.testLimit) tests: \(Self.count(self.surplus, "exchange")).")
        }
        return (lines + self.tests).joined(separator: "\n")
    }

    /// Adds the test of an exchange, unless there is one already.
    package mutating func add(_ exchange: RecordedExchange) {
        guard let request = WritableRequest(exchange, self.policy) else {
            self.unwritable += 1
            return
        }
        let outcome = exchange.outcome
        let parts = [outcome.decision, outcome.route, outcome.rule.map(Self.lead)].map { $0 ?? "" }
        guard self.seen.count < Self.testLimit else {
            if !self.seen.contains(([request.text] + parts).joined(separator: "\n")) { self.surplus += 1 }
            return
        }
        guard self.seen.insert(([request.text] + parts).joined(separator: "\n")).inserted else { return }
        let planned = RequestRehearsal(request.request, by: self.policy)
        var (demands, notes) = Self.demands(outcome, planned)
        if demands.isEmpty { demands = [(.decision, planned.facts[.decision])] }
        let expect = demands.map { "\($0.rawValue): \(Self.spelled($1))" }.joined(separator: ", ")
        notes += request.omissions
        var lines = ["", "- name: \(self.name(request).quotedForYAML)", "  request: \(request.text)"]
        lines.insert(contentsOf: notes.map(Self.comment), at: 1)
        lines.append("  expect: {\(expect)}")
        self.tests += lines
    }

    /// A comment on one line, whatever the record has in it.
    private static func comment(_ text: String) -> String { "# \(text.showable(keepingLines: false))" }

    private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    private typealias Demand = (PolicyTest.Fact, String?)

    /// The demands that the record and the configuration agree on, and comments about the others.
    private static func demands(
        _ outcome: RecordedExchange.Outcome, _ planned: RequestRehearsal
    ) -> (demands: [(PolicyTest.Fact, String?)], notes: [String]) {
        var demands: [Demand] = []
        var notes: [String] = []
        // Archives of other programs have no decisions: then the configuration's own are written.
        let isOwn = outcome.decision != nil
        let recorded: [Demand] = [
            (.decision, outcome.decision), (.rule, outcome.rule.map(Self.lead)), (.route, outcome.route),
            (.trust, outcome.trust),
        ]
        for (fact, text) in recorded {
            let found = fact == .rule ? planned.facts[fact].map(Self.lead) : planned.facts[fact]
            if !isOwn || text == found {
                if text != nil || fact == .route || (!isOwn && found != nil) { demands.append((fact, found)) }
            } else if fact == .decision, text == "reject" || text == "error" {
                notes.append("the record says \(text ?? ""), which the origin or its response may have decided")
            } else if text != nil || fact == .route {
                let now = found ?? "absent"
                notes.append("\(fact.rawValue): the record says \(text ?? "absent"), this configuration \(now)")
            }
        }
        return (demands, notes)
    }

    /// The name of a rule without the words that explain it.
    private static func lead(_ rule: String) -> String { String(rule.prefix { $0 != " " && $0 != "," }) }

    private static func spelled(_ text: String?) -> String {
        guard let text else { return "absent" }
        let isMistakable = text == "absent" || text.hasPrefix("/")
        return isMistakable ? "{exact: \(text.quotedForYAML)}" : text.quotedForYAML
    }

    private mutating func name(_ request: WritableRequest) -> String {
        var name = request.name
        var number = 1
        while !self.names.insert(name).inserted {
            number += 1
            name = "\(request.name) (\(number))"
        }
        return name
    }
}

/// A recorded request in the form of a policy test.
private struct WritableRequest {
    let request: PolicyTest.Request
    /// The value of `request` in the file.
    let text: String
    /// The method and the URL.
    let name: String
    /// Comments about parts that are left out.
    private(set) var omissions: [String] = []

    /// - Returns: nil for a target that a test cannot have.
    init?(_ exchange: RecordedExchange, _ policy: Policy) {
        var head = RequestHead(method: exchange.head.method, target: exchange.head.target)
        var members: [(String, String)] = [("method", head.method.quotedForYAML)]
        var url: String
        let isIntercepted = exchange.access.mode == "intercept"
        switch head.target {
        case .authority(let authority): url = authority.description
        case .asterisk: return nil
        case .absolute(let scheme, let authority, let path):
            let known = Self.withoutMasked(path, exchange.unknown)
            url = "\(scheme.rawValue)://\(authority.description(for: scheme))\(known)"
            guard let parsed = try? HTTPURL(url) else { return nil }
            (url, head.target) = (
                parsed.description, .absolute(scheme: scheme, authority: parsed.authority, path: parsed.path)
            )
            if isIntercepted { members.append(("mode", "intercept")) }
        case .origin(let path):
            guard let host = exchange.head.fields["Host"], let authority = Authority(host, defaultPort: 80),
                let parsed = try? HTTPURL("http://\(authority)\(Self.withoutMasked(path, exchange.unknown))")
            else { return nil }
            (url, head.target) = (parsed.description, .origin(path: parsed.path))
            head.fields.append("Host", parsed.authority.description(for: .http))
            members.append(("mode", "gateway"))
        }
        members.insert(("url", url.quotedForYAML), at: 1)
        if exchange.unknown.hasQuery { self.omissions.append("masked values of the query are left out") }
        let fields = Self.fields(exchange, policy)
        if !fields.isEmpty {
            let lines = fields.map { "\($0.name.quotedForYAML): \($0.value.quotedForYAML)" }
            members.append(("headers", "{\(lines.joined(separator: ", "))}"))
            for (name, value) in fields { head.fields.append(name, value) }
        }
        let client = Self.client(exchange.access)
        if !client.members.isEmpty { members.append(("client", "{\(client.members.joined(separator: ", "))}")) }
        self.request = PolicyTest.Request(
            head: head, body: [], client: client.client, isIntercepted: isIntercepted)
        self.text = "{\(members.map { "\($0): \($1)" }.joined(separator: ", "))}"
        self.name = "\(head.method) \(url)"
    }

    /// The path without parts of the query whose values are masked.
    private static func withoutMasked(_ path: String, _ unknown: RecordedExchange.Unknown) -> String {
        guard unknown.hasQuery, let mark = path.firstIndex(of: "?") else { return path }
        let known = path[path.index(after: mark)...].split(separator: "&").filter { !$0.contains(Redaction.mask) }
        return path[..<mark] + (known.isEmpty ? "" : "?\(known.joined(separator: "&"))")
    }

    /// The fields that routes look at; each once, as a map in the file has each once.
    private static func fields(_ exchange: RecordedExchange, _ policy: Policy) -> [(name: String, value: String)] {
        var seen: Set<String> = ["host"]
        return policy.routes.fields(of: exchange.head).pairs.filter {
            seen.insert($0.name.lowercased()).inserted && FieldSyntax.isValue($0.value)
        }
    }

    private static func client(_ access: RecordedExchange.Access) -> (client: PolicyTest.Client, members: [String]) {
        var client = PolicyTest.Client()
        var members: [String] = []
        if let text = access.client, let authority = Authority(text, defaultPort: 0),
            let address = IPAddress(authority.host), address != client.address
        {
            client.address = address
            members.append("address: \("\(address)".quotedForYAML)")
        }
        if let user = access.user {
            client.user = user
            members.append("user: \(user.quotedForYAML)")
        }
        if let tag = access.tag {
            client.tag = tag
            members.append("tag: \(tag.quotedForYAML)")
        }
        return (client, members)
    }
}

extension String {
    /// The text as it is if YAML reads it as text, else in double quotes, as JSON has it, which is YAML, too.
    fileprivate var quotedForYAML: String {
        let isWord = self.first?.isLetter == true && self.allSatisfy { $0.isASCII && ($0.isLetter || $0 == "-") }
        if isWord, !["null", "true", "false", "yes", "no", "on", "off", "y", "n"].contains(self.lowercased()) {
            return self
        }
        // This cannot fail: a text has a form in JSON.
        let bytes = (try? JSONWriter.write(.string(self), options: .fragmentsAllowed)) ?? []
        var text = ""
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            // YAML has no pairs of surrogates, and some of these characters would end a line.
            if scalar.isDeceptive {
                let digits = String(scalar.value, radix: 16)
                let (mark, width) = digits.utf8.count > 4 ? ("\\U", 8) : ("\\u", 4)
                text += mark + String(repeating: "0", count: width - digits.utf8.count) + digits
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
