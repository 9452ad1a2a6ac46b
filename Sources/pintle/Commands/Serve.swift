// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Logging
internal import PintleActivity
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

    @Option(
        help: ArgumentHelp(
            "Where operators look, instead of where the configuration says: ADDR:PORT, unix:PATH or off.",
            valueName: "place"))
    var admin: String?

    @Option(
        help: ArgumentHelp(
            "Write the ports listened on, and the paths of Unix sockets, to this file, one a line, when ready.",
            valueName: "file"), completion: .file())
    var portFile: String?

    @Flag(
        help: "Reload when the configuration file, or a file that it names, changes; not where hosts would be refused.")
    var watch = false

    @Option(
        help: ArgumentHelp("trace, debug, info, notice, warning, error or critical.", valueName: "level"),
        completion: .list(LogConfiguration.Level.allCases.map(\.rawValue)))
    var logLevel: String?

    @Option(
        help: ArgumentHelp("text or json.", valueName: "format"),
        completion: .list(LogConfiguration.Format.allCases.map(\.rawValue)))
    var logFormat: String?

    /// Loads the current configuration file and applies the flags.
    typealias Loading =
        @Sendable (ReadFiles) async throws(CommandFailure) -> (policy: Policy, origin: ConfigurationOrigin)

    func run() async throws {
        do throws(CommandFailure) {
            try await self.serve()
        } catch {
            let format = self.logFormat.flatMap(LogConfiguration.Format.init) ?? error.logFormat
            guard format == .json else { throw error }
            // A log collector expects a single format, and the reason why there is no proxy is most important to it.
            let logger = Logger(label: "pintle") { _ in LineLogHandler(format: .json, level: .error) }
            for line in error.lines { logger.error("\(line)") }
            throw CommandFailure(error.code, lines: [])
        }
    }

    private func serve() async throws(CommandFailure) {
        // Done first, before a thread starts that could read the environment.
        let (manager, given) = (try ServiceManager.taken(), try GivenSockets.taken())
        let (file, flags) = (self.configuration.file, Flags(self, given: given.places))
        let load: Loading = { files async throws(CommandFailure) in
            let (policy, origin) = try await ConfigurationOptions.load(
                file, listen: try flags.places(), telling: files, flags.tell)
            return (try flags.over(policy, origin), origin)
        }
        let files = ReadFiles()
        let (policy, origin) = try await load(files)
        let service = Service(
            policy: policy, origin: origin, portFile: self.portFile, load: load, files: files, isWatching: self.watch,
            manager: manager, given: given.descriptors, needsAdmin: self.admin != nil || origin.path != nil)
        do throws(CommandFailure) {
            try await service.run()
        } catch {
            var failure = error
            failure.logFormat = policy.configuration.log.format
            throw failure
        }
    }
}

/// The flags that override the configuration.
private struct Flags: Sendable {
    private let listen: [String]
    /// The addresses of listening sockets that the process received.
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

    /// Returns the addresses to serve, which override the configuration; nil if that decides.
    func places() throws(CommandFailure) -> [ListenAddress]? {
        guard self.given.isEmpty else {
            guard self.listen.isEmpty else {
                throw CommandFailure(
                    .usage,
                    "--listen \(self.listen[0]): the service manager listens already (LISTEN_FDS); remove one of them"
                )
            }
            return self.given
        }
        var places: [ListenAddress] = []
        for text in self.listen {
            do throws(Malformed) {
                places.append(try ListenAddress(text))
            } catch {
                throw CommandFailure(.usage, "--listen \(text): \(error.reason)")
            }
        }
        return places.isEmpty ? nil : places
    }

    /// Logs a sentence about loading in the form of the log, which may not have begun yet.
    func tell(_ sentence: String, _ format: LogConfiguration.Format) {
        let format = self.logFormat.flatMap(LogConfiguration.Format.init) ?? format
        let handler = LineLogHandler(format: format == .json ? .json : .text, level: .warning)
        Logger(label: "pintle") { _ in handler }.warning("\(sentence)")
    }

    /// Applies the other flags to the policy.
    func over(_ policy: Policy, _ origin: ConfigurationOrigin) throws(CommandFailure) -> Policy {
        try self.checkCertificate(policy.configuration)
        var configuration = policy.configuration
        if case .embedded = origin { configuration.admin.place = .standardAdmin }
        let changed = try self.overridden(configuration) ?? configuration
        if changed == policy.configuration { return policy }
        do throws(ConfigurationError) {
            return try Policy(changed, file: origin.description)
        } catch {
            throw CommandFailure(error)
        }
    }

    /// - Throws: an error if an address given by a flag or a socket needs TLS, but there is no certificate.
    private func checkCertificate(_ configuration: Configuration) throws(CommandFailure) {
        guard configuration.listenTLS == nil, let first = configuration.listen.first(where: \.isTLS) else { return }
        let remedy =
            "needs a certificate to show to clients; write listen_tls: {certificate: FILE, key: FILE} into the "
            + "configuration"
        guard self.given.isEmpty else {
            throw CommandFailure(.configuration, "the socket \(first), by its name, \(remedy)")
        }
        throw CommandFailure(.usage, "--listen \(first) \(remedy)")
    }

    private static func place(ofAdmin text: String) throws(CommandFailure) -> ListenAddress? {
        if text == "off" { return nil }
        do throws(Malformed) {
            return try AdminConfiguration.place(text)
        } catch {
            throw CommandFailure(.usage, "--admin \(text): \(error.reason)")
        }
    }

    /// Returns the configuration with the flags applied; nil if there are none.
    private func overridden(_ configuration: Configuration) throws(CommandFailure) -> Configuration? {
        var changed = configuration
        if let admin { changed.admin.place = try Self.place(ofAdmin: admin) }
        if let logLevel {
            guard let level = LogConfiguration.Level(rawValue: logLevel) else {
                let levels = LogConfiguration.Level.allCases.map(\.rawValue)
                throw CommandFailure(
                    .usage,
                    "--log-level \(logLevel): one of \(levels.joined(separator: ", "))\(logLevel.hint(of: levels))")
            }
            changed.log.level = level
        }
        if let logFormat {
            guard let format = LogConfiguration.Format(rawValue: logFormat) else {
                let formats = LogConfiguration.Format.allCases.map(\.rawValue)
                throw CommandFailure(
                    .usage, "--log-format \(logFormat): text or json\(logFormat.hint(of: formats))")
            }
            changed.log.format = format
        }
        return changed == configuration ? nil : changed
    }
}
