// SPDX-License-Identifier: Apache-2.0

package import PintleMessage
package import PintleSession
package import PintleTrust

/// A whole configuration, checked and compiled: immutable, and replaced by one assignment.
///
/// A class, so that a connection keeps the policy that it began with at the cost of one reference.
package final class Policy: Sendable {
    /// The configuration that it was compiled from.
    package let configuration: Configuration
    /// The clients that may use the proxy.
    package let clients: ClientRules
    /// The destinations that the proxy may connect to.
    package let destinations: DestinationRules
    /// The choice between upstream proxies and direct connections.
    package let parents: ParentRules
    /// The ports that a CONNECT may go to.
    package let connectPorts: PortRule
    /// The ports that other requests may go to.
    package let ports: PortRule
    /// The hosts by which clients address the proxy itself.
    package let ownNames: OwnNames
    /// The routes.
    package let routes: RouteTable
    /// The choice of trust policies.
    package let trust: TrustTable
    /// The trust policies, compiled: one for each of `configuration.trust`, in the same order.
    package let securityPolicies: [SecurityPolicy]
    /// The client certificate of each trust policy, for servers that ask for one, in the same order.
    package let clientIdentities: [ClientIdentity?]
    /// The TLS context for clients of listeners with TLS; nil without `listen_tls`.
    package let listenTLS: TLSServerContext?
    /// The destinations of `tunnels.verify`.
    let verifiedTunnels: HostIndex
    /// The destinations of `interception.hosts`.
    let interceptedTunnels: HostIndex
    let tunnelsWithoutSNI: HostIndex
    let names: NameRules
    /// The API description that messages to and from its servers must keep to, on every route.
    package let apiContract: APIContract?

    /// Compiles `configuration`.
    ///
    /// - Parameters:
    ///   - file: the name for messages.
    ///   - surroundings: access to the files that the configuration names.
    /// - Throws: the problems that only compiling finds, such as pins, certificates and schemas that cannot be read.
    package convenience init(
        _ configuration: Configuration, file: String, surroundings: LoaderEnvironment = .system(environment: [:])
    ) throws(ConfigurationError) {
        var problems = ConfigurationProblems()
        let report: TrustCompiler.Report = { message, path, position in
            problems.add(ConfigurationProblem(file: file, position: position, path: path, message: message))
        }
        let trust = TrustCompiler.compile(configuration.trust, report: report)
        let contracts = ContractCompiler.compile(configuration, surroundings: surroundings, report: report)
        let listenTLS = ListenCompiler.compile(configuration, report: report)
        guard problems.isEmpty else { throw ConfigurationError(problems) }
        self.init(
            configuration, trust: trust, contracts: contracts, listenTLS: listenTLS,
            machineName: surroundings.machineName)
    }

    init(
        _ configuration: Configuration, trust: [CompiledTrust], contracts: CompiledContracts,
        listenTLS: TLSServerContext?, machineName: String?
    ) {
        self.listenTLS = listenTLS
        self.securityPolicies = trust.map(\.policy)
        self.clientIdentities = trust.map(\.identity)
        self.configuration = configuration
        self.clients = ClientRules(configuration.clients)
        self.destinations = DestinationRules(
            configuration.destinations, lists: configuration.hostLists, listeners: configuration.listen,
            enforcement: configuration.enforcement, from: configuration.clients.allow.count + 1)
        self.names = NameRules(configuration, self.destinations)
        self.parents = ParentRules(configuration.upstreamProxy)
        self.connectPorts = .connecting(configuration.destinations.connectPorts, listeners: configuration.listen)
        self.ports = .requesting(configuration.destinations.ports, listeners: configuration.listen)
        self.ownNames = OwnNames(
            configuration.listen, machine: machineName,
            certificate: listenTLS?.identity?.chain.first?.names ?? [])
        self.routes = RouteTable(configuration.routes, contracts: contracts.routes, ownNames: self.ownNames)
        self.apiContract = contracts.api
        self.trust = TrustTable(configuration.trust)
        self.verifiedTunnels = HostIndex(configuration.tunnels.verify)
        self.interceptedTunnels = HostIndex(configuration.interception.hosts)
        self.tunnelsWithoutSNI = HostIndex(configuration.destinations.absentSNI)
    }

    /// The clients that rules are for, each as often as there are rules for it.
    package var namedClients: [NamedClients] {
        let destinations = self.configuration.destinations
        return (destinations.allow + destinations.deny).compactMap(\.clients)
            + self.configuration.routes.compactMap(\.match.clients)
    }

    /// True if a rule is for named clients.
    package var namesClients: Bool { self.destinations.namesClients || self.routes.nameClients }

    /// The names of a client by which rules are chosen; none, at no cost, if no rule is for named clients.
    package func ruledIdentity(_ client: @autoclosure () -> ProxyIdentity) -> ProxyIdentity {
        self.namesClients ? client() : ProxyIdentity()
    }

    /// True if there are tunnels that are intercepted, which needs a certificate authority.
    package var intercepts: Bool {
        !self.configuration.interception.hosts.isEmpty
            || self.configuration.routes.contains { $0.connect == .intercept }
    }

    /// The API description that a request and its response must keep to: the route's, else the one for all routes.
    package func apiContract(for decision: Decision) -> APIContract? {
        if let contract = decision.route?.apiContract { return contract }
        guard let contract = self.apiContract, contract.covers(decision.scheme, decision.authority) else { return nil }
        return contract
    }

    /// The treatment of messages that break their contract, on a route or without one.
    package func onViolation(on route: Route?) -> ResponseRules.OnViolation {
        (route?.configuration.response ?? ResponseRules()).onViolation(under: self.configuration.enforcement)
    }

    /// Makes the whole decision about one request.
    ///
    /// Destination and trust are those of the origin that the request is sent to: the route's upstream, if it has one.
    ///
    /// - Throws: the reason for a bad request: the path may not be joined to the route's upstream, its readings lead to
    ///   different routes, or the target is wss:// and no route has a TLS upstream for it.
    package func decide(_ query: RouteQuery) throws(Malformed) -> Decision {
        let route = try self.routes.first(matching: query)
        if query.isWebSocket, query.scheme == .https, route?.configuration.upstream?.scheme != .https {
            throw Malformed(
                "a wss:// target would reach this proxy in clear; ask for a tunnel with CONNECT, or give a route for it an "
                    + "https upstream")
        }
        if let route, route.answer != nil { return Decision(query, answeredBy: route) }
        let scheme: Scheme
        let authority: Authority
        let path: String
        if let upstream = route?.configuration.upstream {
            scheme = upstream.scheme
            authority = upstream.authority
            path = try upstream.path(for: query.path, strippingPrefix: route?.configuration.stripPrefix)
        } else {
            scheme = query.scheme
            authority = query.authority
            path = query.path
        }
        let way = self.parents.way(to: authority, scheme)
        let client = self.destinations.rights(of: query.client)
        var destination = self.destinations.judge(authority, goingBy: way, for: client)
        // The port of an upstream is always allowed, since the operator has written it.
        if route?.configuration.upstream == nil { self.judge(authority.port, by: self.ports, &destination) }
        let trust = scheme == .https ? self.trust.choose(for: authority, route: route) : nil
        let reported = trust.flatMap { self.judgeUnpinned($0, &destination) }
        return Decision(
            route: route, scheme: scheme, authority: authority, path: path, destination: destination,
            reportedRule: reported, way: way, trust: trust,
            rights: self.addressRights(client, for: authority, goingBy: way))
    }

    /// The rights by which the addresses of a host are judged. An upstream proxy resolves names itself.
    func addressRights(_ client: ClientRights, for authority: Authority, goingBy way: RequestWay) -> ClientRights {
        if case .parent = way { return .none }
        return self.destinations.addressRights(client, for: authority)
    }

    /// Judges a port after its host.
    func judge(_ port: UInt16, by rule: PortRule, _ destination: inout DestinationDecision) {
        if rule.allows(port) { return }
        destination.add(rule.description, isReported: self.destinations.areReported && rule.isWritten)
    }
}

/// The decision of a configuration about a request, with the rules that led to it. It is read often and never changes, so it
/// is shared.
package final class Decision: Sendable {
    /// The route; nil if none matches.
    package let route: Route?
    /// The scheme of the origin that the request is sent to.
    package let scheme: Scheme
    /// The authority of the origin that the request is sent to.
    package let authority: Authority
    /// Path and query as they are sent.
    package let path: String
    /// The decision about that origin.
    package let destination: DestinationDecision
    /// The broken rule about destinations that only reports: the request passes, and a violation is counted.
    package let reportedRule: String?
    /// The way to that origin.
    package let way: RequestWay
    /// The trust policy; nil if nothing is verified, as for http.
    package let trust: TrustChoice?
    /// The rights of the client by which the origin's address is judged. Requests with other rights get neither its connection nor
    /// its response.
    package let rights: ClientRights
    /// True if the request asks for a tunnel in which the client is shown a certificate of the proxy's own.
    package let isIntercepted: Bool
    /// The trust policy that verifies the destination if a tunnel that should be intercepted is relayed, because its clients
    /// refuse our certificate (`pass_through_on_alert`); nil if it is not verified.
    package let trustIfRelayed: TrustChoice?

    /// The rule that asks about the origin; nil if none does.
    package var question: DecidingRule? { if case .asked(let rule) = self.destination { rule } else { nil } }

    /// The decision of `asking` once the destination is allowed by an answer.
    convenience init(_ asking: Decision, allowedBy grant: DecidingRule) {
        self.init(
            route: asking.route, scheme: asking.scheme, authority: asking.authority, path: asking.path,
            destination: .allowed(by: grant), reportedRule: asking.reportedRule, way: asking.way, trust: asking.trust,
            rights: asking.rights, isIntercepted: asking.isIntercepted, trustIfRelayed: asking.trustIfRelayed)
    }

    /// The decision about a request that its route answers itself. Nothing is looked up, and nothing is sent anywhere; so rules
    /// about destinations and trust do not apply.
    fileprivate convenience init(_ query: RouteQuery, answeredBy route: Route) {
        self.init(
            route: route, scheme: query.scheme, authority: query.authority, path: query.path,
            destination: .allowed(by: DecidingRule("\(route.description), respond")), reportedRule: nil, way: .straight,
            trust: nil, rights: .none)
    }

    init(
        route: Route?, scheme: Scheme, authority: Authority, path: String, destination: DestinationDecision,
        reportedRule: String?, way: RequestWay, trust: TrustChoice?, rights: ClientRights, isIntercepted: Bool = false,
        trustIfRelayed: TrustChoice? = nil
    ) {
        self.route = route
        self.scheme = scheme
        self.authority = authority
        self.path = path
        self.destination = destination
        self.reportedRule = destination.denial == nil ? destination.reported ?? reportedRule : nil
        self.way = way
        self.trust = trust
        self.rights = rights
        self.isIntercepted = isIntercepted
        self.trustIfRelayed = trustIfRelayed
    }

    /// A sentence for logs about the rule that only reports; nil if none is broken.
    package var reportedBreach: String? {
        guard let rule = self.reportedRule else { return nil }
        if case .reported(let question) = self.destination, question.asks {
            return "\(self.authority) would wait for an answer, by \(rule)"
        }
        return "\(self.authority) is reported by \(rule)"
    }
}
