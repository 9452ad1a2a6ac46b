// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// Whether the proxy may connect to a destination, and which rule says so.
package enum DestinationDecision: Sendable, Equatable {
    /// `destinations.allow[0] "*.corp.example"`, or `destinations.default`.
    case allowed(by: String)
    /// `destinations.deny[3] "*.ads.example"`, or `destinations.default`.
    case denied(by: String)
    /// No rule about names decides; one about networks may, once the address is known.
    case byAddress
}

/// `destinations`, compiled: denials come before permissions, permissions before the default.
///
/// Names are judged when the request is read, addresses when they are dialled. A name that is allowed is still refused
/// when what it resolves to is in a denied network: denials are judged on both.
package struct DestinationRules: Sendable {
    private let deny: RuleList
    private let allow: RuleList
    private let fallback: DestinationDecision

    init(_ configuration: DestinationsConfiguration) {
        self.deny = RuleList("destinations.deny", configuration.deny)
        self.allow = RuleList("destinations.allow", configuration.allow)
        let reason = "destinations.default"
        self.fallback = configuration.fallback == .allow ? .allowed(by: reason) : .denied(by: reason)
    }

    /// Whether dialled addresses must be judged: without rules about networks the first decision is the last.
    package var judgesAddresses: Bool { self.deny.hosts.hasNetworks || self.allow.hosts.hasNetworks }

    /// Judges the host of a request, before it is resolved. A literal address is judged as one.
    package func judge(_ authority: Authority) -> DestinationDecision {
        if let rule = self.deny.first(authority) { return .denied(by: rule) }
        if let rule = self.allow.first(authority) { return .allowed(by: rule) }
        guard case .denied = self.fallback, self.allow.hosts.hasNetworks, IPAddress(authority.host) == nil else {
            return self.fallback
        }
        return .byAddress
    }

    /// Judges the address that is about to be dialled; never `.byAddress`.
    ///
    /// - Parameter host: what was decided about the name.
    package func judge(
        address: IPAddress, port: UInt16, after host: DestinationDecision
    ) -> DestinationDecision {
        if case .denied = host { return host }
        if let rule = self.deny.first(address, port) { return .denied(by: rule) }
        guard case .byAddress = host else { return host }
        if let rule = self.allow.first(address, port) { return .allowed(by: rule) }
        return self.fallback
    }
}

/// One list of host patterns with a reason for each.
private struct RuleList: Sendable {
    let hosts: HostIndex
    private let reasons: [String]

    init(_ name: String, _ patterns: [HostPattern]) {
        var hosts = HostIndex()
        for (number, pattern) in patterns.enumerated() { hosts.insert(pattern, number: number) }
        self.hosts = hosts
        self.reasons = patterns.enumerated().map { "\(name)[\($0)] \"\($1)\"" }
    }

    func first(_ authority: Authority) -> String? {
        self.hosts.first(authority) { _ in true }.map { self.reasons[$0] }
    }

    func first(_ address: IPAddress, _ port: UInt16) -> String? {
        self.hosts.firstNetwork(containing: address, port: port).map { self.reasons[$0] }
    }
}
