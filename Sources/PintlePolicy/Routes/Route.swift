// SPDX-License-Identifier: Apache-2.0

package import NIOCore
package import PintleMessage
package import PintleSerialization
package import PintleSession

/// One compiled route. A class, so that a decision holds it at the cost of one reference.
package final class Route: Sendable {
    /// The index in the table; the lowest that matches wins.
    package let index: Int
    /// The name in logs, metrics and problems.
    package let name: String
    /// The configuration that the route was compiled from.
    package let configuration: RouteConfiguration
    /// The route's changes to requests.
    package let rewriter: RequestRewriter
    /// The rules for responses; nil if they may be anything.
    package let contract: ResponseContract?
    /// The API description that messages must keep to.
    package let apiContract: APIContract?
    /// The longest silence from upstream, before a response and within it; nil for the times of ``Silence``.
    package let timeout: TimeAmount?
    /// The longest time for making a connection.
    package let connectTimeout: TimeAmount
    /// The rules for further attempts after a failure.
    let retries: TransferRetries
    /// The service class that marks the packets of the route's connections; nil leaves them unmarked, like other requests'.
    package let serviceType: ServiceType?

    /// The response of the route itself; nil if it sends requests on.
    let answer: RouteAnswer?

    private let methods: [String]
    private let paths: [PathPattern]
    private let headers: [HeaderPattern]
    private let clients: NamedClients?
    private let acceptsHTTP: Bool
    let acceptsHTTPS: Bool
    private let ownNames: OwnNames

    init(_ configuration: RouteConfiguration, index: Int, contracts: RouteContracts, ownNames: OwnNames) {
        self.index = index
        self.name = configuration.name
        self.configuration = configuration
        self.rewriter = RequestRewriter(configuration.request)
        self.contract = contracts.response
        self.apiContract = contracts.api
        self.timeout = configuration.request.timeout.map { TimeAmount($0) }
        self.connectTimeout = TimeAmount(configuration.request.connectTimeout)
        let serviceType = configuration.request.serviceType
        self.serviceType = serviceType == .default ? nil : serviceType
        self.retries = configuration.request.retries.forTransfers
        self.ownNames = ownNames
        self.answer = configuration.answer.map { RouteAnswer($0) }
        self.methods = configuration.match.methods
        self.paths = configuration.match.paths
        self.headers = configuration.match.headers
        self.clients = configuration.match.clients
        let schemes = configuration.match.schemes
        self.acceptsHTTP = schemes.isEmpty || schemes.contains(.http)
        self.acceptsHTTPS = schemes.isEmpty || schemes.contains(.https)
    }

    /// `routes[3] "charge"`.
    package var description: String { "routes[\(self.index)] \"\(self.name)\"" }

    /// True if a path must match, too.
    var hasPaths: Bool { !self.paths.isEmpty }

    /// True if the host matches. Tables use ``HostIndex`` instead where few routes are for one host.
    func isFor(_ authority: Authority) -> Bool {
        let hosts = self.configuration.match.hosts
        return hosts.isEmpty || hosts.contains { $0.matches(authority) }
    }

    /// True if everything except host and path matches.
    func acceptsAllButPath(_ query: RouteQuery) -> Bool {
        guard query.scheme == .http ? self.acceptsHTTP : self.acceptsHTTPS else { return false }
        guard self.serves(query) else { return false }
        guard self.acceptsHeaders(query.headers), self.clients.includes(query.client) else { return false }
        return self.acceptsMethod(of: query)
    }

    /// True if the method is one of the route's. A preflight counts as the request that it announces if the route answers it.
    private func acceptsMethod(of query: RouteQuery) -> Bool {
        if self.methods.isEmpty || self.methods.contains(query.method) { return true }
        guard self.configuration.cors != nil, let announced = query.announcedMethod else { return false }
        return self.methods.contains(announced)
    }

    /// True if the request has the fields that the route demands.
    func acceptsHeaders(_ fields: Fields) -> Bool {
        self.headers.isEmpty || self.headers.allSatisfy { $0.matches(fields) }
    }

    /// True if the route may serve requests in this form to this host.
    ///
    /// Without `match.hosts`, a route with an upstream, or with a response of its own, serves only requests to the proxy itself if
    /// they are in origin form, and in any form if the route adds credentials. Otherwise a web page of any name could have requests
    /// sent with the credentials, and read the responses.
    private func serves(_ query: RouteQuery) -> Bool {
        guard self.configuration.servesGateway else { return query.form == .proxy }
        guard self.configuration.match.hosts.isEmpty else { return true }
        if query.form == .proxy, !self.configuration.injectsCredentials { return true }
        return self.ownNames.contains(query.authority.host)
    }

    /// True if a path, in one reading, matches.
    func acceptsPath(_ path: [UInt8]) -> Bool {
        self.paths.isEmpty || self.paths.contains { $0.matches(bytes: path) }
    }
}

extension Route {
    /// The reason why the route is not for this request, the first in the order of the file's keys; nil if it is.
    package func mismatch(_ query: RouteQuery) -> String? {
        let match = self.configuration.match
        // Queries are not matched, and may have secrets.
        let path = String(query.path.prefix { $0 != "?" })
        let readings = (try? PathReadings(path))?.all ?? [Array(path.utf8)]
        var hosts = HostIndex()
        for (number, host) in match.hosts.enumerated() { hosts.insert(host, number: number) }
        if !match.hosts.isEmpty, hosts.first(query.authority, where: { _ in true }) == nil {
            return "\(query.authority) is none of its hosts"
        }
        if !self.acceptsMethod(of: query) {
            return "\(query.method) is none of its methods"
        }
        if !readings.contains(where: self.acceptsPath) {
            return "\(String(decoding: readings[0], as: UTF8.self).excerpt) is none of its paths"
        }
        if !match.schemes.isEmpty, !match.schemes.contains(query.scheme) {
            return "\(query.scheme.rawValue) is none of its schemes"
        }
        if let header = match.headers.first(where: { !$0.matches(query.headers) }) {
            return "it has no field like \"\(header)\""
        }
        if let names = match.clients?.missing(query.client) {
            return "\(query.client.description) is none of its \(names)"
        }
        if self.acceptsAllButPath(query) { return nil }
        if !self.configuration.servesGateway { return "it has no upstream, which a gateway request needs" }
        if query.form == .proxy {
            return "it adds credentials and names no hosts, and \(query.authority.host) is no name of this proxy"
        }
        return "it names no hosts, and \(query.authority.host) is no name of this proxy"
    }
}

/// The properties of a request by which its route is chosen.
package struct RouteQuery: Sendable, Equatable {
    /// The form in which the request reached Pintle.
    package enum Form: Sendable {
        /// In absolute form, or through an intercepted tunnel.
        case proxy
        /// In origin form: only a route with an upstream can tell its destination.
        case gateway
    }

    /// The method, a case-sensitive token.
    package var method: String
    package var scheme: Scheme
    /// The requested authority: the target's, or Host for a gateway request.
    package var authority: Authority
    /// Path and query, beginning with a slash; `*` for OPTIONS in asterisk form.
    package var path: String
    package var form: Form
    /// The fields by which routes are chosen; see ``RouteTable/fields(of:)``.
    package var headers: Fields
    /// True if the target had a WebSocket scheme, ws:// for http or wss:// for https (RFC 6455 §3).
    package var isWebSocket: Bool
    /// The method of the request that a browser's preflight announces; nil if this is no preflight.
    package var announcedMethod: String?
    /// The names of the client by which rules are chosen; see ``Policy/ruledIdentity(_:)``.
    package var client: ProxyIdentity

    package init(
        method: String, scheme: Scheme, authority: Authority, path: String, form: Form = .proxy,
        headers: Fields = Fields(), isWebSocket: Bool = false, announcedMethod: String? = nil,
        client: ProxyIdentity = ProxyIdentity()
    ) {
        self.method = method
        self.scheme = scheme
        self.authority = authority
        self.path = path
        self.form = form
        self.headers = headers
        self.isWebSocket = isWebSocket
        self.announcedMethod = announcedMethod
        self.client = client
    }
}
