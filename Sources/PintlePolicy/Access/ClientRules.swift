// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The decision on a client's use of the proxy, with the rule that made it.
package enum ClientDecision: Sendable, Equatable {
    /// `clients.allow[0] "127.0.0.0/8"`.
    case allowed(by: String)
    /// `clients.allow`: no network of it holds the address.
    case denied(by: String)
}

/// `clients`, compiled.
package struct ClientRules: Sendable {
    private let allow: NetworkTable
    /// The names of the rules, in the order of the configuration.
    let names: [String]

    init(_ configuration: ClientsConfiguration) {
        var allow = NetworkTable()
        for (number, network) in configuration.allow.enumerated() { allow.insert(network, number: number) }
        self.allow = allow
        self.names = configuration.allow.enumerated().map { "clients.allow[\($0)] \"\($1)\"" }
    }

    /// Judges the address that a client connects from.
    package func judge(_ address: IPAddress) -> ClientDecision {
        guard let place = self.place(of: address) else { return .denied(by: Self.denyingRule) }
        return .allowed(by: self.names[place])
    }

    /// The rule that denies clients which no other allows.
    package static let denyingRule = "clients.allow"

    /// The answer to a client that connects from an address that may not use the proxy; nil if it may.
    package func refusal(of address: IPAddress) -> Problem? {
        guard case .denied(let rule) = self.judge(address) else { return nil }
        return Problem(.clientDenied, "\(address) is not in \(rule)")
    }

    /// The place in ``Policy/rules`` of the rule that decides about the address.
    package func deciding(_ address: IPAddress) -> Int { self.place(of: address) ?? self.names.count }

    private func place(of address: IPAddress) -> Int? { self.allow.first(containing: address) }
}
