// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintlePolicy

/// A configuration as the private proxy of one command keeps it: what it says of clients is about another proxy's.
enum PrivatePolicy {
    /// - Parameters:
    ///   - file: the value of `-c`.
    ///   - place: where the command finds its proxy.
    ///   - hosts: whose tunnels are intercepted, besides those of the configuration.
    ///   - isLearning: true where clients that pin are to go on, whatever the configuration says.
    static func load(
        _ file: String?, listen place: ListenAddress, intercepting hosts: [HostPattern], isLearning: Bool = false
    ) throws(CommandFailure) -> (policy: Policy, origin: ConfigurationOrigin) {
        let (policy, origin) = try ConfigurationOptions.load(file, listen: [place])
        var configuration = policy.configuration
        // The command is the only client, comes over loopback, and knows no password.
        configuration.clients = ClientsConfiguration()
        // Another proxy on the way, of the same configuration perhaps, would take a request with its own name for a loop.
        configuration.via = configuration.via.map { "\($0)-\(getpid())" }
        configuration.interception.hosts += hosts
        if isLearning { configuration.interception.passesThroughOnAlert = true }
        guard configuration != policy.configuration else { return (policy, origin) }
        do throws(ConfigurationError) {
            return (try Policy(configuration, file: origin.description), origin)
        } catch {
            throw CommandFailure(error)
        }
    }
}
