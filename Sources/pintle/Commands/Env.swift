// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Glibc
internal import PintlePolicy
internal import PintleSystem
internal import PintleTrust

struct Env: AsyncParsableCommand {
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
            "sh (also for bash and zsh), fish, powershell, json, dotenv or github; or nft for rules that redirect connections. "
                + "Default fish where $SHELL is fish, else sh.",
            valueName: "shell"))
    var shell: EnvironmentFormat?

    @Option(help: ArgumentHelp("With --shell nft: redirect the connections of this user.", valueName: "user"))
    var uid: String?

    @Option(
        help: ArgumentHelp("With --shell nft: redirect the connections of this control group.", valueName: "path"))
    var cgroup: String?

    @Flag(help: "Print what takes these variables away again. No configuration is read.")
    var unset = false

    func run() async throws {
        let inherited = Inherited.environment
        let format = self.shell ?? .standard(shell: inherited["SHELL"])
        if format == .nft { return try Output.bytes(Array(try await self.rules().utf8)) }
        guard self.uid == nil, self.cgroup == nil else {
            throw CommandFailure(.usage, "pintle env: --uid and --cgroup belong to --shell nft")
        }
        let text =
            self.unset
            ? format.unsetting(ProxyEnvironment.names(trusting: Self.hasTrustFiles))
            : format.setting(try await self.environment(inherited).variables)
        // Written unchanged: escapes for a terminal would become part of the values.
        try Output.bytes(text.systemBytes)
    }

    private func rules() async throws(CommandFailure) -> String {
        if self.unset { return NetfilterRules.removal }
        let programs = try self.programs()
        let (policy, origin) = try await self.configuration.load()
        Output.error("configuration: \(origin)")
        do throws(Malformed) {
            return try NetfilterRules(programs, to: policy.configuration.listen).text
        } catch {
            throw CommandFailure(.incomplete, "pintle env: \(error.reason)")
        }
    }

    private func programs() throws(CommandFailure) -> NetfilterRules.Programs {
        let option = self.uid == nil ? "--cgroup" : "--uid"
        do throws(Malformed) {
            switch (self.uid, self.cgroup) {
            case (let user?, nil): return try NetfilterRules.Programs(user: user)
            case (nil, let group?): return try NetfilterRules.Programs(group: group)
            default: break
            }
        } catch {
            throw CommandFailure(.usage, "pintle env: \(option): \(error.reason)")
        }
        throw CommandFailure(
            .usage, "pintle env: --shell nft needs --uid or --cgroup, which say whose connections are redirected")
    }

    private func environment(_ inherited: [String: String]) async throws(CommandFailure) -> ProxyEnvironment {
        let (policy, origin) = try await self.configuration.load()
        Output.error("configuration: \(origin)")
        let trust = try self.trust(policy, inherited)
        do throws(Malformed) {
            let proxy = try ProxyAddress(policy.configuration.listen)
            if proxy.isTLS {
                Output.error("pintle env: Java cannot use \(proxy), since it speaks with no proxy over TLS")
            }
            if inherited[ProxyEnvironment.javaName]?.contains(".proxyHost=") == false {
                Output.error("pintle env: this takes the place of the JAVA_TOOL_OPTIONS that are set now")
            }
            return ProxyEnvironment(proxy: proxy, trust: trust)
        } catch {
            throw CommandFailure(.incomplete, "pintle env: \(error.reason)")
        }
    }

    /// Writes the files with which programs trust the proxy; returns nil if nothing is intercepted.
    private func trust(
        _ policy: Policy, _ inherited: [String: String]
    ) throws(CommandFailure) -> ProxyEnvironment.Trust? {
        guard policy.intercepts else { return nil }
        guard let folder = DataFolder.trustFiles else {
            throw CommandFailure(.incomplete, "pintle env: neither XDG_DATA_HOME nor HOME says where files may be")
        }
        let authority: CertificateAuthority
        do throws(TrustError) {
            authority = try DataFolder.authority(for: policy.configuration.interception)
        } catch {
            throw CommandFailure(.incomplete, "pintle env: \(error.message)")
        }
        // Programs trust the files in the folder, so only this user and root may be able to change it.
        do throws(UntrustedPlace) {
            _ = try TrustedFolder(folder, making: 0o755)
        } catch {
            throw CommandFailure(.incomplete, "pintle env: \(error)")
        }
        return try TrustFiles.write(for: authority.certificate, policy.configuration, into: folder, inherited)
    }

    /// True if an earlier call may have set variables that name these files.
    private static var hasTrustFiles: Bool { DataFolder.trustFiles.map { access($0, F_OK) == 0 } ?? false }
}
