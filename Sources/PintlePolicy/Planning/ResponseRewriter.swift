// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// A route's changes to the fields of one response: addresses of its upstream, permissions for web pages, and
/// `response.headers`.
package struct ResponseRewriter: Sendable {
    private let route: Route
    /// The addresses on both sides, also for the fields of the request; nil if the route leaves them alone.
    let addresses: GatewayAddresses?
    /// True if a client of the gateway asks: others name the upstream themselves, and may be sent to it.
    private let mapsAddresses: Bool
    /// The value of the request's Origin field, for `cors`.
    private let origin: String?
    private let isPreflight: Bool

    /// - Parameters:
    ///   - decision: chose the route.
    ///   - isPreflight: true if the response answers a preflight.
    init(_ route: Route, _ head: RequestHead, _ query: RouteQuery, _ decision: Decision, isPreflight: Bool) {
        let configuration = route.configuration
        (self.route, self.isPreflight) = (route, isPreflight)
        self.origin = configuration.cors == nil ? nil : head.fields["Origin"]
        self.mapsAddresses = query.form == .gateway
        guard configuration.rewritesUpstream, let upstream = configuration.upstream else {
            self.addresses = nil
            return
        }
        let prefix = configuration.stripPrefix.flatMap { prefix in
            RequestPath.removing(prefix: prefix, from: query.path) == nil ? nil : prefix
        }
        self.addresses = GatewayAddresses(
            upstream: upstream, prefix: prefix ?? "", gateway: query.authority, asked: (query.path, decision.path))
    }

    private var headers: HeaderRules { self.route.configuration.response.headers }

    /// Changes the fields of a response of the origin.
    func apply(to fields: inout Fields) {
        if self.mapsAddresses { self.addresses?.apply(to: &fields) }
        self.apply(toOwn: &fields)
    }

    /// Changes the fields of a response of Pintle's own.
    func apply(toOwn fields: inout Fields) {
        self.route.configuration.cors?.apply(to: &fields, for: self.origin, isPreflight: self.isPreflight)
        self.headers.apply(to: &fields)
    }

    /// Removes from a trailer section the fields that the route's rules name.
    func apply(toTrailers fields: inout Fields) { self.headers.apply(toTrailers: &fields) }
}
