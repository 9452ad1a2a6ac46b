// SPDX-License-Identifier: Apache-2.0

package import PintleActivity
internal import PintleTrust

/// A configuration that was read and compiled, but for the lists that other machines keep.
///
/// Loading does nothing but read files. So its caller fetches the lists in between: the policy of the draft says how.
package struct PolicyDraft: Sendable {
    /// A list that was fetched.
    package struct Fetched: Sendable {
        package let hosts: HostList
        /// The time at which the server last sent or confirmed the text.
        package let confirmed: Timestamp

        package init(hosts: HostList, confirmed: Timestamp) { (self.hosts, self.confirmed) = (hosts, confirmed) }
    }

    /// The policy in which lists of other machines are empty: only for readers of parts that no list changes.
    package let policy: Policy
    private let file: String
    private let trust: [CompiledTrust]
    private let contracts: CompiledContracts
    private let machineName: String?

    /// The lists that are missing.
    package var fetches: [ListFetch] { self.policy.listFetches }
    /// The form of the log, in which messages about the fetches are written.
    package var logFormat: LogConfiguration.Format { self.policy.configuration.log.format }

    init(
        _ configuration: Configuration, file: String, trust: [CompiledTrust], contracts: CompiledContracts,
        listenTLS: TLSServerContext?, machineName: String?
    ) {
        (self.file, self.trust, self.contracts, self.machineName) = (file, trust, contracts, machineName)
        self.policy = Policy(
            configuration, trust: trust, contracts: contracts, listenTLS: listenTLS, machineName: machineName)
    }

    /// Completes the policy.
    ///
    /// - Parameter fetched: returns a list of ``fetches`` by its name, or the reason why there is none.
    package func policy(
        _ fetched: (_ name: String) throws(Malformed) -> Fetched
    ) throws(ConfigurationError) -> Policy {
        guard !self.fetches.isEmpty else { return self.policy }
        var configuration = self.policy.configuration
        var problems = ConfigurationProblems()
        for (index, list) in configuration.lists.enumerated() {
            guard var remote = list.remote else { continue }
            do throws(Malformed) {
                let text = try fetched(list.name)
                remote.confirmed = text.confirmed
                (configuration.lists[index].source, configuration.lists[index].hosts) = (.remote(remote), text.hosts)
            } catch {
                problems.add(
                    ConfigurationProblem(
                        file: self.file, position: list.position, path: "lists.\(list.name)", message: error.reason))
            }
        }
        guard problems.isEmpty else { throw ConfigurationError(problems, logFormat: self.logFormat) }
        return Policy(
            configuration, trust: self.trust, contracts: self.contracts, listenTLS: self.policy.listenTLS,
            machineName: self.machineName)
    }
}
