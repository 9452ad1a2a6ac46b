// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleTrust

/// The trust policies of a configuration, found by their names and hosts: each of many lists and routes looks for one.
struct TrustIndex {
    private let policies: [TrustConfiguration]
    let enforcement: Enforcement
    private let places: [String: Int]
    private let table: TrustTable

    init(_ configuration: Configuration) {
        self.policies = configuration.trust
        self.enforcement = configuration.enforcement
        self.places = Dictionary(
            configuration.trust.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.table = TrustTable(configuration.trust)
    }

    /// The policy of the name; nil if there is none.
    subscript(_ name: String) -> TrustConfiguration? { self.places[name].map { self.policies[$0] } }

    /// The policy for a host that no route is for; nil for the system's trust.
    func policy(for authority: Authority) -> TrustConfiguration? {
        self.table.choose(for: authority, route: nil).index.map { self.policies[$0] }
    }

    /// The names, in the order of the file. Takes as long as there are policies, so it is for messages.
    var names: [String] { self.policies.map(\.name) }
}

extension StrictNode {
    /// The name of a trust policy that refuses what does not satisfy it; nil after an error.
    ///
    /// - Parameter consequence: the end of the sentence about a policy that does not, as in `so that …`.
    func enforcedTrust(_ index: TrustIndex, otherwise consequence: String) -> Located<String>? {
        let standard = TrustConfiguration.defaultName
        guard let name = self.nonEmptyString() else { return nil }
        if let trust = index[name] {
            if let leniency = trust.leniency(under: index.enforcement) {
                self.report("\(name) \(leniency), \(consequence)")
            }
        } else if name != standard {
            // Without an entry of that name it is the system's trust.
            self.report("there is no trust policy \(name.excerpt)\(name.hint(of: index.names + [standard]))")
        }
        return Located(name, at: self.position)
    }
}

extension TrustConfiguration {
    /// The reason why the policy lets through what does not satisfy it, as the end of a sentence; nil if it does not.
    func leniency(under enforcement: Enforcement) -> String? {
        if (self.enforcement ?? enforcement) == .report {
            "only reports what does not satisfy it"
        } else if self.allowInvalidCertificates, self.pinning == .none {
            "accepts every certificate"
        } else if self.expires != nil, self.onExpiry == .report {
            "only reports after its pins have expired"
        } else {
            nil
        }
    }
}
