// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy

/// The decisions of `http_access` about all requests.
///
/// Requests are sorted into classes by the lists that they are on: clients, names, addresses of servers, and ports. The rules
/// see nothing else of a request. So a decision for each combination of classes is a decision about every request.
struct SquidTable {
    /// Members that are on the same lists.
    struct Class<Member> {
        let lists: Set<String>
        var members: [Member]
    }

    /// One combination.
    struct Question {
        var client: Set<String>
        var name: Set<String>
        var address: Set<String>
        var port: Set<String>
        var isConnect: Bool
        var isAuthenticated: Bool
    }

    let clients: [Class<AddressSpan>]
    /// The first class has no members: names that are on no list, and hosts that are addresses.
    let names: [Class<HostPattern>]
    let addresses: [Class<AddressSpan>]
    let ports: [Class<ClosedRange<Int>>]
    /// False if no rule asks for passwords.
    let asksForPasswords: Bool
    private let rules: [SquidRule]
    /// The decision on requests that no rule matches.
    private let fallback: Bool

    /// The most pairs of a list, and of a range or a name that any list has: enough for a million names on a hundred lists.
    private static let mostPairs = 100_000_000

    /// - Parameter rules: without unknown conditions.
    /// - Throws: the reason, if there are too many lists with too many values.
    init(_ rules: [SquidRule], fallback: Bool) throws(Malformed) {
        self.rules = rules
        self.fallback = fallback
        var lists: [String: SquidACL.Condition] = [:]
        for term in rules.flatMap(\.terms) { lists[term.list.name] = term.list.condition }
        var (sources, destinations): ([String: [AddressSpan]], [String: [AddressSpan]]) = ([:], [:])
        var (domains, ports): ([String: [HostPattern]], [String: [ClosedRange<Int>]]) = ([:], [:])
        for (name, condition) in lists {
            switch condition {
            case .source(let ranges): sources[name] = ranges
            case .destination(let ranges): destinations[name] = ranges
            case .domain(let patterns): domains[name] = patterns
            case .port(let ranges): ports[name] = ranges
            case .connect, .authenticated, .never, .unknown: break
            }
        }
        let clients = AddressSpan.pieces(sources.values.joined())
        let addresses = AddressSpan.pieces(destinations.values.joined())
        let numbers = Pieces.split(
            1...65_535,
            at: ports.values.joined().filter { $0.upperBound > 0 }.map { max(1, $0.lowerBound)...$0.upperBound })
        let sizes = [
            (sources.count, clients.count), (destinations.count, addresses.count), (ports.count, numbers.count),
            (domains.count, domains.values.reduce(0) { $0 + $1.count }),
        ]
        let pairs = sizes.reduce(0) { $0 + $1.0 * $1.1 }
        guard pairs <= Self.mostPairs else {
            throw Malformed("its lists and their values make \(pairs) pairs; at most \(Self.mostPairs) are compared")
        }
        self.clients = Self.classes(clients, on: sources)
        self.addresses = Self.classes(addresses, on: destinations)
        let portRanges = ports.mapValues { Pieces.joined($0) }
        self.ports = Self.grouped(numbers) { piece in
            Set(portRanges.filter { Pieces.contain($0.value, piece.lowerBound) }.keys)
        }
        self.names = [Class(lists: [], members: [])] + Self.nameClasses(domains)
        self.asksForPasswords = lists.values.contains(.authenticated)
    }

    /// - Parameter members: each wholly within a range of a list, or wholly without.
    private static func classes(
        _ members: [AddressSpan], on lists: [String: [AddressSpan]]
    ) -> [Class<AddressSpan>] {
        let ranges = lists.mapValues { spans in
            (
                v4: Pieces.joined(spans.filter { $0.family == .v4 }.map(\.numbers)),
                v6: Pieces.joined(spans.filter { $0.family == .v6 }.map(\.numbers))
            )
        }
        return Self.grouped(members) { member in
            let own = ranges.filter {
                Pieces.contain(member.family == .v4 ? $0.value.v4 : $0.value.v6, member.numbers.lowerBound)
            }
            return Set(own.keys)
        }
    }

    /// Each listed name and suffix stands for the names that match it, and no longer one.
    private static func nameClasses(_ lists: [String: [HostPattern]]) -> [Class<HostPattern>] {
        var owners: [HostPattern.Host: Set<String>] = [:]
        var patterns: [HostPattern] = []
        for (name, members) in lists.sorted(by: { $0.key < $1.key }) {
            for pattern in members {
                if owners[pattern.host] == nil { patterns.append(pattern) }
                owners[pattern.host, default: []].insert(name)
            }
        }
        return Self.grouped(patterns) { pattern in
            pattern.selfAndSuffixes.reduce(into: []) { $0.formUnion(owners[$1] ?? []) }
        }
    }

    private static func grouped<Member>(
        _ members: [Member], by lists: (Member) -> Set<String>
    ) -> [Class<Member>] {
        var classes: [Class<Member>] = []
        var places: [Set<String>: Int] = [:]
        for member in members {
            let own = lists(member)
            if let place = places[own] {
                classes[place].members.append(member)
            } else {
                places[own] = classes.count
                classes.append(Class(lists: own, members: [member]))
            }
        }
        return classes
    }

    /// The number of combinations; the highest number if there are more.
    var count: Int {
        [self.clients.count, self.names.count, self.addresses.count, self.ports.count, self.asksForPasswords ? 4 : 2]
            .reduce(1) { product, factor in
                let (count, overflow) = product.multipliedReportingOverflow(by: factor)
                return overflow ? .max : count
            }
    }

    /// The number of conditions of all rules.
    var conditions: Int { self.rules.reduce(0) { $0 + max(1, $1.terms.count) } }

    /// True if Squid allows the requests of this combination: by the first rule that matches.
    func allows(_ question: Question) -> Bool { self.rule(for: question)?.isAllowing ?? self.fallback }

    /// The first rule that matches.
    func rule(for question: Question) -> SquidRule? {
        self.rules.first { rule in rule.terms.allSatisfy { Self.holds($0, question) } }
    }

    private static func holds(_ term: SquidRule.Term, _ question: Question) -> Bool {
        let isOn =
            switch term.list.condition {
            case .source: question.client.contains(term.list.name)
            case .destination: question.address.contains(term.list.name)
            case .domain: question.name.contains(term.list.name)
            case .port: question.port.contains(term.list.name)
            case .connect: question.isConnect
            case .authenticated: question.isAuthenticated
            case .never, .unknown: false
            }
        return isOn != term.isNegated
    }
}

extension HostPattern {
    /// The pattern, and each suffix whose names include all of its own.
    var selfAndSuffixes: [Host] {
        let name: String
        switch self.host {
        case .exact(let exact): name = exact
        case .suffix(let suffix): name = "*.\(suffix)"
        case .any, .network: return [self.host]
        }
        var hosts = [self.host]
        var rest = name[...]
        while let dot = rest.firstIndex(of: ".") {
            rest = rest[rest.index(after: dot)...]
            let suffix = Host.suffix(String(rest))
            if suffix != self.host { hosts.append(suffix) }
        }
        return hosts
    }
}
