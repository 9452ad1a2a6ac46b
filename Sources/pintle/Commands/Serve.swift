// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import PintlePolicy

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the proxy in the foreground.",
        discussion: "The first SIGTERM or SIGINT finishes what is under way; a second one exits at once.")

    @OptionGroup var configuration: ConfigurationOptions

    @Option(
        help: ArgumentHelp(
            "Listen here instead of where the configuration says: ADDR:PORT, https://ADDR:PORT or unix:PATH; repeatable. "
                + "Port 0 takes a free port.",
            valueName: "place"))
    var listen: [String] = []

    @Option(help: ArgumentHelp("Only `off`: there are no admin endpoints in this version.", valueName: "off"))
    var admin: String?

    @Option(
        help: ArgumentHelp(
            "Write the ports listened on, and the paths of Unix sockets, to this file, one a line, when ready.",
            valueName: "file"))
    var portFile: String?

    @Flag(
        help: "Reload when the configuration file, or a file that it names, changes; not where hosts would be refused.")
    var watch = false

    @Option(help: ArgumentHelp("trace, debug, info, notice, warning, error or critical.", valueName: "level"))
    var logLevel: String?

    @Option(help: ArgumentHelp("text or json.", valueName: "format"))
    var logFormat: String?

    /// Reads the configuration as it is now, with the flags over it.
    typealias Loading = @Sendable (ReadFiles) throws(CommandFailure) -> (policy: Policy, origin: ConfigurationOrigin)

    func run() async throws {
        // Before anything else starts a thread that might look at the environment.
        let (manager, given) = (try ServiceManager.taken(), try GivenSockets.taken())
        let (file, flags) = (self.configuration.file, Flags(self, given: given.places))
        let load: Loading = { files throws(CommandFailure) in
            let (policy, origin) = try ConfigurationOptions.load(file) { files.note($0) }
            return (try flags.over(policy, origin), origin)
        }
        let files = ReadFiles()
        let (policy, origin) = try load(files)
        let service = Service(
            policy: policy, origin: origin, portFile: self.portFile, load: load, watched: self.watch ? files : nil,
            manager: manager, given: given.descriptors)
        try await service.run()
    }
}

/// The flags that say something else than the configuration.
private struct Flags: Sendable {
    private let listen: [String]
    /// Where sockets listen that were given to the process.
    private let given: [ListenAddress]
    private let admin: String?
    private let logLevel: String?
    private let logFormat: String?

    init(_ command: Serve, given: [ListenAddress]) {
        self.given = given
        self.listen = command.listen
        self.admin = command.admin
        self.logLevel = command.logLevel
        self.logFormat = command.logFormat
    }

    func over(_ policy: Policy, _ origin: ConfigurationOrigin) throws(CommandFailure) -> Policy {
        guard let changed = try self.overridden(policy.configuration) else { return policy }
        do throws(ConfigurationError) {
            return try Policy(changed, file: origin.description)
        } catch {
            throw CommandFailure(error)
        }
    }

    /// The configuration with the flags over it, or nil where there are none.
    private func overridden(_ configuration: Configuration) throws(CommandFailure) -> Configuration? {
        var changed = configuration
        if let admin, admin != "off" {
            throw CommandFailure(.usage, "--admin \(admin): there are no admin endpoints in this version; use off")
        }
        if !self.given.isEmpty {
            guard self.listen.isEmpty else {
                throw CommandFailure(
                    .usage,
                    "--listen \(self.listen[0]): the service manager listens already (LISTEN_FDS); remove one of them"
                )
            }
            if let first = self.given.first(where: \.isTLS), configuration.listenTLS == nil {
                throw CommandFailure(
                    .configuration,
                    "the socket \(first), by its name, needs a certificate to show to clients; write "
                        + "listen_tls: {certificate: FILE, key: FILE} into the configuration")
            }
            changed.listen = self.given
        }
        if !self.listen.isEmpty {
            var addresses: [ListenAddress] = []
            for text in self.listen {
                do throws(Malformed) {
                    addresses.append(try ListenAddress(text))
                } catch {
                    throw CommandFailure(.usage, "--listen \(text): \(error.reason)")
                }
            }
            if let first = addresses.first(where: \.isTLS), configuration.listenTLS == nil {
                throw CommandFailure(
                    .usage,
                    "--listen \(first) needs a certificate to show to clients; write listen_tls: {certificate: FILE, "
                        + "key: FILE} into the configuration")
            }
            changed.listen = addresses
        }
        if let logLevel {
            guard let level = LogConfiguration.Level(rawValue: logLevel) else {
                let levels = LogConfiguration.Level.allCases.map(\.rawValue).joined(separator: ", ")
                throw CommandFailure(.usage, "--log-level \(logLevel): one of \(levels)")
            }
            changed.log.level = level
        }
        if let logFormat {
            guard let format = LogConfiguration.Format(rawValue: logFormat) else {
                throw CommandFailure(.usage, "--log-format \(logFormat): text or json")
            }
            changed.log.format = format
        }
        return changed == configuration ? nil : changed
    }
}
