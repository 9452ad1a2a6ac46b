// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import PintlePolicy

/// The option that names the configuration file, which every command finds in the same way.
struct ConfigurationOptions: ParsableArguments {
    @Option(
        name: [.customShort("c"), .customLong("config")],
        help: ArgumentHelp(
            "The configuration file.",
            discussion:
                "Else $PINTLE_CONFIG, ./pintle.yaml, $XDG_CONFIG_HOME/pintle/pintle.yaml, the embedded default.",
            valueName: "file"))
    var file: String?

    /// Loads and compiles the configuration.
    ///
    /// - Throws: ``CommandFailure`` with all errors.
    func load() throws(CommandFailure) -> (policy: Policy, origin: ConfigurationOrigin) { try Self.load(self.file) }

    /// Loads and compiles the configuration that `-c` names.
    ///
    /// - Parameters:
    ///   - listen: addresses that override those of the file; nil if the file decides.
    ///   - files: records everything on which the configuration depends, before it is read.
    static func load(
        _ file: String?, listen: [ListenAddress]? = nil, telling files: ReadFiles? = nil
    ) throws(CommandFailure) -> (policy: Policy, origin: ConfigurationOrigin) {
        let system = LoaderEnvironment.system(environment: Inherited.environment)
        do throws(ConfigurationError) {
            let surroundings =
                files.map { files in
                    system.telling(
                        { files.note($0) }, listings: { files.noteListing($0) }, values: { files.noteValue($0) })
                } ?? system
            return try PolicyLoader.load(flag: file, surroundings: surroundings, listen: listen)
        } catch {
            throw CommandFailure(error)
        }
    }
}

extension CommandFailure {
    /// Maps an error to an exit code: a file that cannot be read makes the work incomplete; any other error is one of the
    /// configuration.
    init(_ error: ConfigurationError) {
        let isUnreadable = error.problems.allSatisfy { $0.position == nil }
        self.init(isUnreadable ? .incomplete : .configuration, error.description)
        self.logFormat = error.logFormat
    }
}
