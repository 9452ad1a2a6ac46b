// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// One compiled route. A class, so that a decision carries it for the price of one reference.
package final class Route: Sendable {
    /// Its place in the table; the lowest that matches wins.
    package let index: Int
    /// What logs, metrics and problems call it.
    package let name: String
    /// What the file says about it.
    package let configuration: RouteConfiguration

    private let methods: [String]
    private let paths: [PathPattern]
    private let acceptsHTTP: Bool
    private let acceptsHTTPS: Bool

    init(_ configuration: RouteConfiguration, index: Int) {
        self.index = index
        self.name = configuration.name
        self.configuration = configuration
        self.methods = configuration.match.methods
        self.paths = configuration.match.paths
        let schemes = configuration.match.schemes
        self.acceptsHTTP = schemes.isEmpty || schemes.contains(.http)
        self.acceptsHTTPS = schemes.isEmpty || schemes.contains(.https)
    }

    /// `routes[3] "charge"`.
    package var description: String { "routes[\(self.index)] \"\(self.name)\"" }

    /// Whether all but the host matches.
    func accepts(_ query: RouteQuery, path: String) -> Bool {
        guard query.scheme == .http ? self.acceptsHTTP : self.acceptsHTTPS else { return false }
        guard query.form == .proxy || self.configuration.upstream != nil else { return false }
        guard self.methods.isEmpty || self.methods.contains(query.method) else { return false }
        return self.paths.isEmpty || self.paths.contains { $0.matches(path) }
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

    package init(method: String, scheme: Scheme, authority: Authority, path: String, form: Form = .proxy) {
        self.method = method
        self.scheme = scheme
        self.authority = authority
        self.path = path
        self.form = form
    }
}
