// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
package import PintleSession

/// The proxies that requests go by, in place of to their origins.
package struct UpstreamProxyConfiguration: Sendable, Equatable {
    /// A parent, and where it is named.
    package struct Parent: Sendable, Equatable {
        /// Its exceptions are here, not in it.
        package var server: ProxyServer
        /// `upstream_proxy.url`, or a variable of the environment such as `https_proxy`.
        package var source: String

        /// `http://proxy.example:3128`, without the credential.
        package var url: String { "\(self.server.scheme.rawValue)://\(self.server.authority)" }
    }

    /// For http requests; nil sends them to their origins.
    package var http: Parent?
    /// For https requests and tunnels.
    package var https: Parent?
    /// What goes to its origin all the same. Default nothing.
    package var exceptions = ProxyExceptions.patterns([])
    /// Where the key stands.
    package var position: SourcePosition

    init(position: SourcePosition) { self.position = position }
}

/// Destinations that are reached directly, though there is a parent.
package enum ProxyExceptions: Sendable, Equatable {
    /// `upstream_proxy.no_proxy`.
    case patterns([HostPattern])
    /// The environment's `no_proxy`.
    case environment(EnvironmentExceptions)

    /// The rule by which `authority` is reached directly; nil where there is none.
    func rule(for authority: Authority) -> String? {
        switch self {
        case .patterns(let patterns):
            patterns.firstIndex { $0.matches(authority) }.map { "upstream_proxy.no_proxy[\($0)] \"\(patterns[$0])\"" }
        case .environment(let exceptions): exceptions.rule(for: authority)
        }
    }

    /// As they were written.
    package var descriptions: [String] {
        switch self {
        case .patterns(let patterns): patterns.map(\.description)
        case .environment(let exceptions): exceptions.words
        }
    }
}
