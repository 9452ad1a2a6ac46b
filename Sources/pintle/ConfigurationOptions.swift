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
            valueName: "file"), completion: .file())
    var file: String?

    /// Writes a sentence about a wait or an old list, in the form of the configuration's log if it goes there.
    typealias Telling = @Sendable (_ sentence: String, _ format: LogConfiguration.Format) -> Void

    /// Loads and compiles the configuration.
    ///
    /// - Throws: ``CommandFailure`` with all errors.
    func load() async throws(CommandFailure) -> (policy: Policy, origin: ConfigurationOrigin) {
        try await Self.load(self.file)
    }

    /// Loads and compiles the configuration that `-c` names, and fetches the lists that it names if their copies are old.
    ///
    /// - Parameters:
    ///   - listen: addresses that override those of the file; nil if the file decides.
    ///   - files: records everything on which the configuration depends, before it is read.
    ///   - tell: gets sentences about waits and old lists. Default: they go to standard error.
    static func load(
        _ file: String?, listen: [ListenAddress]? = nil, telling files: ReadFiles? = nil,
        _ tell: @escaping Telling = { sentence, _ in Output.error(sentence) }
    ) async throws(CommandFailure) -> (policy: Policy, origin: ConfigurationOrigin) {
        guard file != "" else {
            throw CommandFailure(.usage, "the name of the configuration is empty, as is a variable that is not set")
        }
        let system = LoaderEnvironment.system(environment: Inherited.environment)
        do throws(ConfigurationError) {
            let surroundings =
                files.map { files in
                    system.telling(
                        { files.note($0) }, listings: { files.noteListing($0) }, values: { files.noteValue($0) })
                } ?? system
            let (draft, origin) = try PolicyLoader.draft(flag: file, surroundings: surroundings, listen: listen)
            let lists = await ListSource(store: .ofUser).load(draft.fetches) { tell($0, draft.logFormat) }
            let policy = try draft.policy { name throws(Malformed) in
                switch lists[name] {
                case .success(let list)?:
                    files?.note(list: list.text.copy.url, sha256: list.text.copy.sha256)
                    if let warning = list.warning { tell("warning: \(warning)", draft.logFormat) }
                    return PolicyDraft.Fetched(hosts: list.text.hosts, confirmed: list.text.copy.confirmed)
                case .failure(let failure)?: throw Malformed(failure.reason)
                case nil: preconditionFailure("BUG: the list \(name) was not asked for")
                }
            }
            return (policy, origin)
        } catch {
            throw CommandFailure(error)
        }
    }
}

extension CommandFailure {
    /// Maps an error to an exit code: a file that cannot be read makes the work incomplete; any other error is one of the
    /// configuration.
    init(_ error: ConfigurationError) {
        self.init(error.isUnreadable ? .incomplete : .configuration, error.description)
        self.logFormat = error.logFormat
    }
}
