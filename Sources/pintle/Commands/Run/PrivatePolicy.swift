// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintlePolicy

/// Loads a configuration for the private proxy of one command. Its settings for clients are ignored, because they are meant
/// for another proxy.
enum PrivatePolicy {
    /// - Parameters:
    ///   - file: the value of `-c`.
    ///   - place: the address at which the command finds its proxy.
    ///   - hosts: further hosts whose tunnels are intercepted.
    ///   - isLearning: true if clients that pin certificates must be able to continue, whatever the configuration says.
    static func load(
        _ file: String?, listen place: ListenAddress, intercepting hosts: [HostPattern], isLearning: Bool = false
    ) throws(CommandFailure) -> (policy: Policy, origin: ConfigurationOrigin) {
        let (policy, origin) = try ConfigurationOptions.load(file, listen: [place])
        var configuration = policy.configuration
        // The command is the only client, connects over loopback, and has no password.
        configuration.clients = ClientsConfiguration()
        // Another proxy on the way, perhaps with the same configuration, would take a request with its own name for a loop.
        configuration.via = configuration.via.map { "\($0)-\(getpid())" }
        // Spans are for a service; this proxy would have to wait for their receiver at its end.
        configuration.tracing = nil
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
