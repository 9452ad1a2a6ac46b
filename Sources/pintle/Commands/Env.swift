// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import FoundationEssentials
internal import PintlePolicy

struct Env: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the environment that leads programs to a running proxy.",
        discussion: """
            For a shell: eval "$(pintle env)", pintle env --shell fish | source, or pintle env --shell powershell | \
            Out-String | Invoke-Expression. For a job of GitHub Actions: pintle env --shell github >> "$GITHUB_ENV".

            The address is that of the configuration's `listen`. Nothing is exempt: requests to localhost go to the proxy, \
            too. pintle run does the same for one command, with a proxy of its own.
            """)

    @OptionGroup var configuration: ConfigurationOptions

    @Option(
        help: ArgumentHelp(
            "sh, fish, powershell, json, dotenv or github. Default fish where $SHELL is fish, else sh.",
            valueName: "shell"))
    var shell: EnvironmentFormat?

    @Flag(help: "Print what takes these variables away again. No configuration is read.")
    var unset = false

    func run() throws {
        let inherited = ProcessInfo.processInfo.environment
        let format = self.shell ?? .standard(shell: inherited["SHELL"])
        let text =
            self.unset
            ? format.unsetting(ProxyEnvironment.names(trusting: false))
            : format.setting(try self.environment(inherited).variables)
        // As it is: escapes for a terminal would be part of the values.
        try Output.bytes(Array(text.utf8))
    }

    private func environment(_ inherited: [String: String]) throws(CommandFailure) -> ProxyEnvironment {
        let (policy, origin) = try self.configuration.load()
        Output.error("configuration: \(origin)")
        do throws(Malformed) {
            let proxy = try ProxyAddress(policy.configuration.listen)
            if proxy.isTLS {
                Output.error("pintle env: Java cannot use \(proxy), since it speaks with no proxy over TLS")
            }
            if inherited[ProxyEnvironment.javaName]?.contains(".proxyHost=") == false {
                Output.error("pintle env: this takes the place of the JAVA_TOOL_OPTIONS that are set now")
            }
            return ProxyEnvironment(proxy: proxy, trust: InterceptionTrust.files(of: policy))
        } catch {
            throw CommandFailure(.incomplete, "pintle env: \(error.reason)")
        }
    }
}

/// The files that let programs trust what Pintle intercepts.
enum InterceptionTrust {
    /// - Returns: nil where nothing may be intercepted, which is always so: this version does not intercept. The one place
    ///   where `env` and `run` are given them.
    static func files(of policy: Policy) -> ProxyEnvironment.Trust? { nil }
}
