// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import PintlePolicy

/// The configuration file, found alike by every command.
struct ConfigurationOptions: ParsableArguments {
    @Option(
        name: [.customShort("c"), .customLong("config")],
        help: ArgumentHelp(
            "The configuration file.",
            discussion:
                "Else $PINTLE_CONFIG, ./pintle.yaml, $XDG_CONFIG_HOME/pintle/pintle.yaml, the embedded default.",
            valueName: "file"))
    var file: String?

    /// Loads and compiles it.
    ///
    /// - Throws: ``CommandFailure`` with everything that is wrong.
    func load() throws(CommandFailure) -> (policy: Policy, origin: ConfigurationOrigin) { try Self.load(self.file) }

    /// The same for what `-c` says.
    ///
    /// - Parameters:
    ///   - listen: where clients are served whatever the file says; nil where it decides.
    ///   - files: told of everything that it depends on, before it is looked at.
    static func load(
        _ file: String?, listen: [ListenAddress]? = nil, telling files: ReadFiles? = nil
    ) throws(CommandFailure) -> (policy: Policy, origin: ConfigurationOrigin) {
        let system = Surroundings.system(environment: Inherited.environment)
        do throws(ConfigurationError) {
            let surroundings =
                files.map { files in system.telling({ files.note($0) }, listings: { files.noteListing($0) }) } ?? system
            return try PolicyLoader.load(flag: file, surroundings: surroundings, listen: listen)
        } catch {
            throw CommandFailure(error)
        }
    }
}

extension CommandFailure {
    /// A file that cannot be read could not be judged; any other is judged invalid.
    init(_ error: ConfigurationError) {
        let isUnreadable = error.problems.allSatisfy { $0.position == nil }
        self.init(isUnreadable ? .incomplete : .configuration, error.description)
        self.logFormat = error.logFormat
    }
}
