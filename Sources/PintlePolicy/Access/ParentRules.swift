// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// Which way a request goes, and why.
package enum RequestWay: Sendable, Equatable {
    /// To its origin, where there is no `upstream_proxy`.
    case straight
    /// To its origin, although there is one; the rule.
    case direct(by: String)
    /// By this one of ``ParentRules/parents``.
    case parent(Int)
}

/// `upstream_proxy`, compiled.
package struct ParentRules: Sendable {
    /// Each proxy that a request may go by; none or one, or two where the environment names two.
    package let parents: [UpstreamProxyConfiguration.Parent]
    private let isConfigured: Bool
    private let http: Int?
    private let https: Int?
    private let exceptions: ProxyExceptions

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
    }

    /// The way to an origin.
    ///
    /// - Parameter scheme: of the origin; https for tunnels.
    package func way(to authority: Authority, _ scheme: Scheme) -> RequestWay {
        guard self.isConfigured else { return .straight }
        guard let number = scheme == .http ? self.http : self.https else {
            return .direct(by: "the environment, which names no proxy for \(scheme.rawValue)")
        }
        return self.exceptions.rule(for: authority).map { .direct(by: $0) } ?? .parent(number)
    }
}
