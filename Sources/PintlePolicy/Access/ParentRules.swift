// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The way that a request takes, and the reason.
package enum RequestWay: Sendable, Equatable {
    /// To its origin, since there is no `upstream_proxy`.
    case straight
    /// To its origin, although there is an `upstream_proxy`: this rule says so.
    case direct(by: String)
    /// Through the upstream proxy with this index in ``ParentRules/parents``.
    case parent(Int)
}

/// `upstream_proxy`, compiled.
package struct ParentRules: Sendable {
    /// The upstream proxies that requests may go through: none or one, or two if the environment names two.
    package let parents: [UpstreamProxyConfiguration.Parent]
    private let isConfigured: Bool
    private let http: Int?
    private let https: Int?
    private let exceptions: ProxyExceptions
    /// The exceptions that are patterns, by their places: there may be thousands.
    private let patterns: HostIndex

    init(_ configuration: UpstreamProxyConfiguration?) {
        var parents: [UpstreamProxyConfiguration.Parent] = []
        func number(_ parent: UpstreamProxyConfiguration.Parent?) -> Int? {
            guard let parent else { return nil }
            if let known = parents.firstIndex(where: { $0.server == parent.server }) { return known }
            parents.append(parent)
            return parents.count - 1
        }
        self.http = number(configuration?.http)
        self.https = number(configuration?.https)
        self.parents = parents
        self.isConfigured = configuration != nil
        self.exceptions = configuration?.exceptions ?? .patterns([])
        if case .patterns(let patterns) = self.exceptions {
            self.patterns = HostIndex(patterns)
        } else {
            self.patterns = HostIndex()
        }
    }

    /// The way to an origin.
    ///
    /// - Parameter scheme: the origin's scheme; https for tunnels.
    package func way(to authority: Authority, _ scheme: Scheme) -> RequestWay {
        guard self.isConfigured else { return .straight }
        guard let number = scheme == .http ? self.http : self.https else {
            return .direct(by: "the environment, which names no proxy for \(scheme.rawValue)")
        }
        return self.exception(for: authority).map { .direct(by: $0) } ?? .parent(number)
    }

    /// The rule by which an origin is reached directly; nil if there is none.
    private func exception(for authority: Authority) -> String? {
        switch self.exceptions {
        case .patterns(let patterns):
            self.patterns.first(authority) { _ in true }
                .map { "upstream_proxy.no_proxy[\($0)] \"\(patterns[$0])\"" }
        case .environment(let exceptions): exceptions.rule(for: authority)
        }
    }
}
