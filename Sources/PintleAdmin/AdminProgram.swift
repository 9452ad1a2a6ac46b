// SPDX-License-Identifier: Apache-2.0

package import PintleActivity
package import PintleCache
package import PintlePolicy
package import PintleProxy
package import PintleWatch

/// The running program, as its admin endpoint sees it.
package protocol AdminProgram: Sendable {
    /// The configuration in force.
    var active: ActiveConfiguration { get }
    /// The digest of its files; `embedded` without one.
    var revision: String { get }
    /// The path of its main file; nil without one.
    var configurationFile: String? { get }
    /// The addresses in words.
    var status: String { get }
    var version: String { get }
    var started: Timestamp { get }
    var activity: Activity { get }
    /// The decisions of each rule about clients and destinations under the configuration in force, in the order of its rules.
    var ruleCounts: [(rule: PolicyRule, count: Int)] { get }
    /// The number of connected clients.
    var connections: Int { get }
    /// The places on which clients are served.
    var places: [ListenAddress] { get }
    /// The reason why no request should be sent; nil if the proxy is ready.
    var unreadiness: String? { get }
    /// The certificate of the authority that signs those of intercepted tunnels, as PEM; nil if there is none.
    var authority: String? { get }

    /// The exchanges and tunnels that have begun and not ended, in no order.
    func running() async -> [RunningExchange]
    /// The metrics of this moment.
    func metrics() async -> MetricsReading

    /// Reads the configuration again.
    ///
    /// - Parameter revision: the one that must be in force; nil for any.
    func reload(ifRevision revision: String?) async -> AdminReload
    /// Removes stored responses.
    ///
    /// - Returns: their number; nil if no route stores any.
    func purge(_ selection: CacheSelection) async -> Int?
    /// Compiles the text of a configuration. Relative paths in it start where those of the present one do.
    func compile(_ text: String) throws(ConfigurationError) -> Policy
}

package enum AdminReload: Sendable {
    case done(lines: [String])
    case refused(lines: [String])
    /// Another configuration is in force than the client has seen.
    case outdated
}
