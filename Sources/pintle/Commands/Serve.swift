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
            "Listen here instead of where the configuration says; repeatable. Port 0 takes a free port.",
            valueName: "address:port"))
    var listen: [String] = []

    @Option(help: ArgumentHelp("Only `off`: there are no admin endpoints in this version.", valueName: "off"))
    var admin: String?

    @Option(
        help: ArgumentHelp("Write the ports listened on to this file, one a line, when ready.", valueName: "file"))
    var portFile: String?

    @Option(help: ArgumentHelp("trace, debug, info, notice, warning, error or critical.", valueName: "level"))
    var logLevel: String?

    @Option(help: ArgumentHelp("text or json.", valueName: "format"))
    var logFormat: String?

    func run() async throws {
        var (policy, origin) = try self.configuration.load()
        if let changed = try self.overridden(policy.configuration) {
            do throws(ConfigurationError) {
                policy = try Policy(changed, file: origin.description)
            } catch {
                throw CommandFailure(error)
            }
        }
        try await Service(policy: policy, origin: origin, portFile: self.portFile).run()
    }

    /// The configuration with the flags over it, or nil where there are none.
    private func overridden(_ configuration: Configuration) throws(CommandFailure) -> Configuration? {
        var changed = configuration
        if let admin, admin != "off" {
            throw CommandFailure(.usage, "--admin \(admin): there are no admin endpoints in this version; use off")
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
