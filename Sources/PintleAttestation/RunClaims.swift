// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization
internal import PintleSystem

/// The sums of a statement that follow from its exchanges: the hosts with the keys that they have shown, the rules that have decided,
/// and the files that were fetched. The writer of a statement and its verifier both add the exchanges up here, and so must come to
/// the same.
package struct RunClaims: Sendable {
    /// The most entries of each kind; more are counted.
    private enum Limit {
        static let hosts = 1000
        static let chains = 4
        static let rules = 1000
        static let files = 5000
        /// The longest URL of a file, in bytes.
        static let url = 1000
    }

    private struct Host: Sendable {
        let name: String
        var exchanges = 0
        /// Each distinct chain of keys.
        var chains: [[String]] = []
        var otherChains = 0
    }

    private var hosts: [Host] = []
    private var hostPlaces: [String: Int] = [:]
    private var otherHosts = 0
    private var rules: [(name: String, count: Int)] = []
    private var rulePlaces: [String: Int] = [:]
    private var otherRules = 0
    private var decisions: [String: Int] = [:]
    private var files: [FetchedFile] = []
    private var known: Set<FetchedFile> = []
    private var otherFiles = 0

    mutating func add(_ exchange: StatedExchange) {
        self.decisions[exchange.decision, default: 0] += 1
        self.addHost(of: exchange)
        if let rule = exchange.rule { self.add(rule: rule) }
        if let file = exchange.file { self.add(file) }
    }

    private mutating func addHost(of exchange: StatedExchange) {
        let known = self.hostPlaces[exchange.host]
        guard known != nil || self.hosts.count < Limit.hosts else { return self.otherHosts += 1 }
        let place = known ?? self.hosts.count
        if known == nil {
            self.hostPlaces[exchange.host] = place
            self.hosts.append(Host(name: exchange.host))
        }
        self.hosts[place].exchanges += 1
        // Nothing new was shown.
        guard !exchange.keys.isEmpty, !self.hosts[place].chains.contains(exchange.keys) else { return }
        if self.hosts[place].chains.count < Limit.chains {
            self.hosts[place].chains.append(exchange.keys)
        } else {
            self.hosts[place].otherChains += 1
        }
    }

    private mutating func add(rule: String) {
        if let place = self.rulePlaces[rule] {
            self.rules[place].count += 1
        } else if self.rules.count < Limit.rules {
            self.rulePlaces[rule] = self.rules.count
            self.rules.append((rule, 1))
        } else {
            self.otherRules += 1
        }
    }

    private mutating func add(_ file: FetchedFile) {
        // It is known already.
        guard !self.known.contains(file) else { return }
        guard self.files.count < Limit.files, file.url.utf8.count <= Limit.url else { return self.otherFiles += 1 }
        self.known.insert(file)
        self.files.append(file)
    }

    // MARK: Documents

    /// The rules that have decided, in the order of their first decision.
    var ruleNames: [String] { self.rules.map(\.name) }

    /// The subject of the statement: the files, or the chain of exchanges if none was fetched, since a statement is about something.
    ///
    /// Names are unique, as the specification of in-toto recommends: a URL that has given several files is numbered.
    func subject(_ chain: ExchangeChain) -> Parameter {
        guard !self.files.isEmpty else {
            return [["name": "exchanges", "digest": ["sha256": .string(chain.hash.hexadecimal)]]]
        }
        var uses: [String: Int] = [:]
        return .array(
            self.files.map { file in
                let use = (uses[file.url] ?? 0) + 1
                uses[file.url] = use
                return .object([
                    ("name", .string(use == 1 ? file.url : "\(file.url) (\(use))")),
                    ("digest", ["sha256": .string(file.sha256)]),
                    ("annotations", file.coding.map { ["content_coding": .string($0)] }),
                ])
            })
    }

    /// - Parameter places: the places of rules in the files of the configuration.
    func members(_ places: [String: String]) -> [(String, Parameter?)] {
        [
            ("hosts", .array(self.hosts.map(Self.document))),
            ("exchanges_with_other_hosts", .integer(Int64(self.otherHosts))),
            (
                "rules",
                .array(
                    self.rules.map { name, count in
                        .object([
                            ("rule", .string(name)), ("place", places[name].map { .string($0) }),
                            ("exchanges", .integer(Int64(count))),
                        ])
                    })
            ),
            ("exchanges_of_other_rules", .integer(Int64(self.otherRules))),
            (
                "decisions",
                .object(self.decisions.sorted { $0.key < $1.key }.map { ($0, .integer(Int64($1))) })
            ),
            ("files_left_out", .integer(Int64(self.otherFiles))),
        ]
    }

    private static func document(_ host: Host) -> Parameter {
        .object([
            ("host", .string(host.name)), ("exchanges", .integer(Int64(host.exchanges))),
            ("keys", .array(host.chains.map { .strings($0) })),
            ("other_keys", host.otherChains == 0 ? nil : .integer(Int64(host.otherChains))),
        ])
    }
}
