// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// One entry of `routes`.
package struct RouteConfiguration: Sendable, Equatable {
    /// The redirects that are followed in the client's place.
    package enum Redirects: String, Sendable, CaseIterable {
        /// None: they are passed to the client.
        case pass
        /// All that do not lead from https to http.
        case follow
        /// Those to the scheme, host and port that were asked.
        case sameOrigin = "same_origin"
    }

    /// What logs, metrics and problems call it; unique.
    package var name: String
    /// Where the file has it.
    package var position: SourcePosition
    /// Which requests it is for.
    package var match = RouteMatch()
    /// The base URL that requests are sent under; nil sends them where they were aimed.
    package var upstream: Upstream?
    /// Whole segments that are taken off the path before it is joined to `upstream`; without a trailing slash.
    package var stripPrefix: String?
    /// The trust policy; nil leaves the choice to `trust.*.hosts`.
    package var trust: Located<String>?
    /// What becomes of a CONNECT to its hosts, as the file says; nil denies it where the route has rules that a tunnel cannot
    /// keep, and leaves it to `tunnels.verify` otherwise.
    package var connect: ConnectMode?
    /// Whether credentials may be injected into requests that go upstream in clear text. Default false.
    package var allowCleartextCredentials = false
    /// What its messages must keep to, besides `response`.
    package var contract: ContractConfiguration?
    /// What happens to requests.
    package var request = RequestRules()
    /// What responses must keep to.
    package var response = ResponseRules()
    /// Default `pass`: a client that does not want to follow one need not.
    package var redirects: Redirects = .pass
    /// Default `off`: who tests against an origin wants to see it.
    package var cache: RouteCachePolicy = .off
    /// Nil where each request is one of its own. Default nil.
    package var coalescing: CoalescingRules?

    package init(name: String, position: SourcePosition) {
        self.name = name
        self.position = position
    }
}

/// Which requests a route is for. An empty list leaves that part open.
package struct RouteMatch: Sendable, Equatable {
    /// Requested authorities. Default all.
    package var hosts: [HostPattern] = []
    /// Method tokens, compared with regard to case. Default all.
    package var methods: [String] = []
    /// Default all.
    package var paths: [PathPattern] = []
    /// Default http and https.
    package var schemes: [Scheme] = []
    /// Fields, all of which a request must have. Default none.
    package var headers: [HeaderPattern] = []

    package init() {}
}
