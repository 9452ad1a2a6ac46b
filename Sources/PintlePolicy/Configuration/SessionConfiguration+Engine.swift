// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
package import PintleSession

extension SessionConfiguration {
    /// The settings of `engine` in the configuration.
    package init(_ engine: EngineConfiguration) {
        self.init()
        self.httpVersion = engine.http2 == .auto ? .automatic : .http1
        self.connectionsPerHost = engine.connectionsPerHost
        self.idleConnections = engine.idleConnections
        self.idleTimeout = engine.idleTimeout
        self.dnsCache = engine.dnsCache
    }
}
