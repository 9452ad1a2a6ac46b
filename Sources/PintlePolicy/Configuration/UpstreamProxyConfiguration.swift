// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
package import PintleSession

/// The upstream proxies that requests go through instead of directly to their origins.
package struct UpstreamProxyConfiguration: Sendable, Equatable {
    /// An upstream proxy, and the setting that names it.
    package struct Parent: Sendable, Equatable {
        /// The address and credential of the proxy. Exceptions stand in ``UpstreamProxyConfiguration``.
        package var server: ProxyServer
        /// The setting: `upstream_proxy.url`, or a variable of the environment such as `https_proxy`.
        package var source: String

        /// `http://proxy.example:3128`, without the credential.
        package var url: String { "\(self.server.scheme.rawValue)://\(self.server.authority)" }
    }

    /// The proxy for http requests; nil sends them to their origins.
    package var http: Parent?
    /// The proxy for https requests and tunnels; nil sends them to their origins.
    package var https: Parent?
    /// Destinations that are reached directly. Default none.
    package var exceptions = ProxyExceptions.patterns([])
    /// The place of the key in the file.
    package var position: SourcePosition

    init(position: SourcePosition) { self.position = position }
}

/// Destinations that are reached directly although there is an upstream proxy.
package enum ProxyExceptions: Sendable, Equatable {
    /// `upstream_proxy.no_proxy`.
    case patterns([HostPattern])
    /// The environment's `no_proxy`.
    case environment(EnvironmentExceptions)

    /// The exceptions, as they were written.
    package var descriptions: [String] {
        switch self {
        case .patterns(let patterns): patterns.map(\.description)
        case .environment(let exceptions): exceptions.words
        }
    }
}
