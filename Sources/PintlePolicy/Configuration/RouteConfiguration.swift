// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// One entry of `routes`.
package struct RouteConfiguration: Sendable, Equatable {
    /// The redirects that the proxy follows in the client's place.
    package enum Redirects: String, Sendable, CaseIterable {
        /// None: redirects are passed to the client.
        case pass
        /// All except those from https to http.
        case follow
        /// Those to the same scheme, host and port as the request.
        case sameOrigin = "same_origin"
    }

    /// The unique name of the route in logs, metrics and problems.
    package var name: String
    /// The place of the route in the file.
    package var position: SourcePosition
    /// The requests that the route is for.
    package var match = RouteMatch()
    /// The base URL that requests are sent under; nil sends them to their own target.
    package var upstream: Upstream?
    /// Whole segments that are removed from the path before it is joined to `upstream`; without a trailing slash.
    package var stripPrefix: String?
    /// True if addresses of `upstream` in responses to clients of the gateway become the gateway's. Default true.
    package var rewritesUpstream = true
    /// The response of the route itself, which needs no upstream: `respond`. Default nil.
    package var answer: FixedAnswer?
    /// The web pages of other origins that may use the route. Default nil: that is left to the upstream.
    package var cors: CORSRules?
    /// The trust policy; nil leaves the choice to `trust.*.hosts`.
    package var trust: Located<String>?
    /// The treatment of a CONNECT to the route's hosts, as the file says. Nil denies it if the route has rules that a tunnel
    /// cannot keep, and otherwise leaves it to `tunnels.verify`.
    package var connect: ConnectMode?
    /// True if credentials may be injected into requests that go upstream in plaintext. Default false.
    package var allowCleartextCredentials = false
    /// The API description that messages must keep to, besides `response`.
    package var contract: ContractConfiguration?
    /// Rules for requests.
    package var request = RequestRules()
    /// Rules that responses must keep to.
    package var response = ResponseRules()
    /// The redirects that the proxy follows. Default `pass`: the client itself decides which ones to follow.
    package var redirects: Redirects = .pass
    /// The use of the cache. Default `off`: a test against an origin is meant to reach it.
    package var cache: RouteCachePolicy = .off
    /// Nil if identical requests do not share a transfer. Default nil.
    package var coalescing: CoalescingRules?
    /// The answers in the place of the origin's. Default none.
    package var simulation = SimulationRules()

    /// True if the route may serve requests in origin form, which do not name a destination.
    package var servesGateway: Bool { self.upstream != nil || self.answer != nil }

    package init(name: String, position: SourcePosition) {
        self.name = name
        self.position = position
    }
}

/// The requests that a route is for. An empty list matches anything.
package struct RouteMatch: Sendable, Equatable {
    /// Requested authorities. Default all.
    package var hosts: [HostPattern] = []
    /// Method tokens, compared case-sensitively. Default all.
    package var methods: [String] = []
    /// Patterns of paths. Default all.
    package var paths: [PathPattern] = []
    /// Schemes of targets. Default http and https.
    package var schemes: [Scheme] = []
    /// Fields that a request must have, all of them. Default none.
    package var headers: [HeaderPattern] = []
    /// The clients whose requests match. Default nil: every client.
    package var clients: NamedClients?

    package init() {}
}
