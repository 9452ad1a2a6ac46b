// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The clients that may use the proxy.
package struct ClientsConfiguration: Sendable, Equatable {
    /// Networks that clients may come from. Default: the machine itself, since an open proxy is a weapon.
    package var allow: [CIDR] = [
        CIDR(masking: IPAddress(v4: 0x7F00_0000), prefixLength: 8), CIDR(IPAddress(v6High: 0, low: 1)),
    ]
    /// The users and passwords by which clients authenticate. Default nil: no authentication.
    package var basicAuth: BasicAuthConfiguration?
    /// The places of the networks in the file; none for the default.
    package var places = AccessPlaces()

    package init() {}
}

/// Users with passwords.
package struct BasicAuthConfiguration: Sendable, Equatable {
    /// The realm that clients show to their users when they ask for a password. Default `pintle`.
    package var realm = "pintle"
    /// The users and hashes, as the file had them when the configuration was loaded.
    package var users: PasswordFile

    init(users: PasswordFile) { self.users = users }

    /// The field that tells clients how to authenticate (RFC 9110 §11.7.1).
    package var challenge: String { "Basic realm=\"\(self.realm)\", charset=\"UTF-8\"" }

    /// The problem for a client that has not shown a correct password.
    package func refusal(hasTried: Bool) -> Problem {
        var problem = Problem(
            .proxyAuthRequired,
            hasTried
                ? "no user of clients.basic_auth has this name and password"
                : "clients.basic_auth wants a user's name and password in Proxy-Authorization")
        problem.challenge = self.challenge
        return problem
    }
}

/// The destinations that the proxy may connect to. Denials come before permissions, permissions before questions, and the default
/// is last.
package struct DestinationsConfiguration: Sendable, Equatable {
    /// The treatment of a destination that no list names.
    package enum Default: String, Sendable, CaseIterable {
        case allow, deny
        /// Requests wait until the destination is allowed, if it is a name.
        case ask
    }

    /// The treatment of addresses that are not globally reachable.
    package enum PrivateAddresses: String, Sendable, CaseIterable {
        case allow, deny
        /// Allowed while every listener is on loopback.
        case auto
    }

    /// The ports that requests of one kind may go to.
    package enum Ports: Sendable, Equatable {
        /// Any if every listener is on loopback. Otherwise 443 alone for CONNECT; 80, 443 and above 1023 for the rest.
        case auto
        case any
        case only([UInt16])
    }

    /// The treatment of requests that rules about names, ports and server names refuse. Rules about addresses always refuse if
    /// it is given. Default nil: the enforcement of the configuration, also for rules about addresses.
    package var enforcement: Enforcement?
    /// The treatment of destinations that no list names. Default `allow`.
    package var fallback: Default = .allow
    /// Destinations that are always allowed, unless denied. Default none.
    package var allow: [DestinationEntry] = []
    /// Destinations that are never allowed. Default none.
    package var deny: [DestinationEntry] = []
    /// Names that requests wait for until they are allowed, unless a list before decides. Default none.
    package var ask: [HostPattern] = []
    /// The treatment of addresses that are not globally reachable. Default `auto`: a proxy that other machines can reach must
    /// not let them into the networks that it is in.
    package var privateAddresses: PrivateAddresses = .auto
    /// The ports for CONNECT. Default `auto`: a proxy that other machines can reach must not relay to mail servers and shells.
    package var connectPorts: Ports = .auto
    /// The ports for requests other than CONNECT. Default `auto`, as above.
    package var ports: Ports = .auto
    /// True if a name that no rule allows is looked up, in case a rule about networks allows its address. Default on.
    package var resolvesNames = true
    /// True if the ClientHello in a tunnel must name the host that the tunnel was opened to. Default on: otherwise a tunnel
    /// could bypass the rules about hosts.
    package var requiresSNIMatch = true
    /// Hosts to which a ClientHello in a tunnel may lack a server name although `fallback` is `deny`. Default none.
    package var absentSNI: [HostPattern] = []
    /// The places of the written rules in the file.
    package var places = AccessPlaces()
    /// The patterns of all rules that are no lists of hosts.
    package var patterns: [HostPattern] { (self.allow + self.deny).compactMap(\.pattern) + self.ask }
    /// The names of the lists of hosts that are rules, in their order.
    package var lists: [String] { (self.allow + self.deny).compactMap(\.list) }
    /// True if requests may have to wait for an answer.
    package var asks: Bool { self.fallback == .ask || !self.ask.isEmpty }

    package init() {}
}

/// A rule in a list of destinations.
package struct DestinationEntry: Sendable, Equatable, CustomStringConvertible {
    /// The hosts that a rule is about.
    package enum Subject: Sendable, Hashable {
        case pattern(HostPattern)
        /// The list of hosts with this name.
        case list(String)
    }

    package let subject: Subject
    /// The clients that it is for. Default nil: every client.
    package var clients: NamedClients?
    /// Words for those that are denied it, such as the way to do without it.
    package var reason: String?

    init(_ subject: Subject) { self.subject = subject }

    init(_ pattern: HostPattern) { self.init(.pattern(pattern)) }

    /// The pattern; nil for a list of hosts.
    package var pattern: HostPattern? { if case .pattern(let pattern) = self.subject { pattern } else { nil } }
    /// The name of the list of hosts; nil for a pattern.
    package var list: String? { if case .list(let name) = self.subject { name } else { nil } }

    /// The pattern, or the list: `list "ads"`.
    package var description: String {
        switch self.subject {
        case .pattern(let pattern): pattern.description
        case .list(let name): "list \"\(name)\""
        }
    }

    /// The subject in a sentence, with quotation marks: `"*.ads.example"`, or `list "ads"`.
    package var quoted: String { self.list == nil ? "\"\(self)\"" : self.description }
}

/// The places of rules about clients and destinations, by the names that decisions give them: `destinations.deny[0]`.
package struct AccessPlaces: Sendable, Equatable {
    private var positions: [String: SourcePosition] = [:]

    package init() {}

    /// True: configurations are the same if their rules are, wherever these stand in their files.
    package static func == (left: AccessPlaces, right: AccessPlaces) -> Bool { true }

    /// - Parameter rule: a name, which further words may follow, as in `destinations.deny[0] "*.ads.example"`.
    package internal(set) subscript(_ rule: String) -> SourcePosition? {
        get { self.positions[String(rule.prefix { $0 != " " && $0 != "," })] }
        set { self.positions[rule] = newValue }
    }
}

extension Configuration {
    /// The place of a rule that a decision names; nil for a default that the file does not write.
    package func place(ofRule rule: String) -> SourcePosition? {
        self.destinations.places[rule] ?? self.clients.places[rule]
    }
}
