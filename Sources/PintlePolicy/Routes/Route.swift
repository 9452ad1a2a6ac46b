// SPDX-License-Identifier: Apache-2.0

package import NIOCore
package import PintleMessage
package import PintleSession

/// One compiled route. A class, so that a decision carries it for the price of one reference.
package final class Route: Sendable {
    /// Its place in the table; the lowest that matches wins.
    package let index: Int
    /// What logs, metrics and problems call it.
    package let name: String
    /// What the file says about it.
    package let configuration: RouteConfiguration
    /// What it makes of requests.
    package let rewriter: RequestRewriter
    /// What its responses must be like; nil where they may be anything.
    package let contract: ResponseContract?
    /// The API description that its messages must keep to.
    package let apiContract: APIContract?
    /// The longest silence of an upstream that has something to say.
    package let timeout: TimeAmount?
    /// The longest time for making a connection.
    package let connectTimeout: TimeAmount
    /// What is tried again.
    let retries: TransferRetries
    /// How the packets of its connections are marked; nil where they are not, as those of other requests.
    package let serviceType: ServiceType?

    private let methods: [String]
    private let paths: [PathPattern]
    private let headers: [HeaderPattern]
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
        self.methods = configuration.match.methods
        self.paths = configuration.match.paths
        self.headers = configuration.match.headers
        let schemes = configuration.match.schemes
        self.acceptsHTTP = schemes.isEmpty || schemes.contains(.http)
        self.acceptsHTTPS = schemes.isEmpty || schemes.contains(.https)
    }

    /// `routes[3] "charge"`.
    package var description: String { "routes[\(self.index)] \"\(self.name)\"" }

    /// Whether a path must match, too.
    var hasPaths: Bool { !self.paths.isEmpty }

    /// Whether all but host and path matches.
    func acceptsAllButPath(_ query: RouteQuery) -> Bool {
        guard query.scheme == .http ? self.acceptsHTTP : self.acceptsHTTPS else { return false }
        guard self.serves(query) else { return false }
        guard self.acceptsHeaders(query.headers) else { return false }
        return self.methods.isEmpty || self.methods.contains(query.method)
    }

    /// True where the request has the fields that it must have.
    func acceptsHeaders(_ fields: Fields) -> Bool {
        self.headers.isEmpty || self.headers.allSatisfy { $0.matches(fields) }
    }

    /// True if requests in this form to this host may be its own.
    ///
    /// Without `match.hosts` only those are that address the proxy itself, in origin form, and in any form if the route adds
    /// credentials: else a web page of any name could have requests sent with them, and read the answers.
    private func serves(_ query: RouteQuery) -> Bool {
        guard self.configuration.upstream != nil else { return query.form == .proxy }
        guard self.configuration.match.hosts.isEmpty else { return true }
        if query.form == .proxy, !self.configuration.injectsCredentials { return true }
        return self.ownNames.contains(query.authority.host)
    }

    /// Whether a path, in one reading, matches.
    func acceptsPath(_ path: [UInt8]) -> Bool {
        self.paths.isEmpty || self.paths.contains { $0.matches(bytes: path) }
    }
}

extension Route {
    /// Why the route is not for this request, or nil where it is: the first reason in the order of the file's keys.
    package func mismatch(_ query: RouteQuery) -> String? {
        let match = self.configuration.match
        let readings = (try? PathReadings(query.path))?.all ?? [Array(query.path.utf8)]
        var hosts = HostIndex()
        for (number, host) in match.hosts.enumerated() { hosts.insert(host, number: number) }
        if !match.hosts.isEmpty, hosts.first(query.authority, where: { _ in true }) == nil {
            return "\(query.authority) is none of its hosts"
        }
        if !match.methods.isEmpty, !match.methods.contains(query.method) {
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
        if self.acceptsAllButPath(query) { return nil }
        if self.configuration.upstream == nil { return "it has no upstream, which a gateway request needs" }
        if query.form == .proxy {
            return "it adds credentials and names no hosts, and \(query.authority.host) is no name of this proxy"
        }
        return "it names no hosts, and \(query.authority.host) is no name of this proxy"
    }
}

/// What a route is chosen by.
package struct RouteQuery: Sendable, Equatable {
    /// How the request reached Pintle.
    package enum Form: Sendable {
        /// In absolute form, or through an intercepted tunnel.
        case proxy
        /// In origin form: only routes with an upstream can say where it goes.
        case gateway
    }

    /// A case-sensitive token.
    package var method: String
    package var scheme: Scheme
    /// The requested authority: of the target, or of Host for a gateway request.
    package var authority: Authority
    /// Path and query, beginning with a slash; `*` for OPTIONS in asterisk form.
    package var path: String
    package var form: Form
    /// The fields that routes look at; see ``RouteTable/fields(of:)``.
    package var headers: Fields
    /// Whether the target had one of WebSocket's schemes, ws:// for http and wss:// for https (RFC 6455 §3).
    package var isWebSocket: Bool

    package init(
        method: String, scheme: Scheme, authority: Authority, path: String, form: Form = .proxy,
        headers: Fields = Fields(), isWebSocket: Bool = false
    ) {
        self.method = method
        self.scheme = scheme
        self.authority = authority
        self.path = path
        self.form = form
        self.headers = headers
        self.isWebSocket = isWebSocket
    }
}
