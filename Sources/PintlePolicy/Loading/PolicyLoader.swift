// SPDX-License-Identifier: Apache-2.0

/// Turns a configuration file into a checked configuration and a compiled policy.
package enum PolicyLoader {
    /// Finds, reads and compiles a configuration. Every command that needs one starts with this, and then fetches the lists that
    /// are missing.
    ///
    /// - Parameters:
    ///   - flag: the value of `-c`, if given.
    ///   - listen: the listeners that replace those of the file; nil if the file decides.
    /// - Throws: all problems of the file, at once.
    package static func draft(
        flag: String?, surroundings: LoaderEnvironment, listen: [ListenAddress]? = nil
    ) throws(ConfigurationError) -> (draft: PolicyDraft, origin: ConfigurationOrigin) {
        let origin = ConfigurationOrigin.locate(flag: flag, surroundings: surroundings)
        guard let path = origin.path else {
            var configuration = Configuration()
            if let listen { configuration.listen = listen }
            // It names no file, so there is nothing to compile.
            let draft = PolicyDraft(
                configuration, file: origin.description, trust: [], contracts: CompiledContracts(routes: [], api: nil),
                listenTLS: nil, machineName: surroundings.machineName)
            return (draft, origin)
        }
        let bytes = try Self.read(path, surroundings)
        return (try Self.draft(yaml: bytes, file: path, surroundings: surroundings, listen: listen), origin)
    }

    /// Finds, reads and compiles a configuration whose lists are all in files.
    package static func load(
        flag: String?, surroundings: LoaderEnvironment, listen: [ListenAddress]? = nil
    ) throws(ConfigurationError) -> (policy: Policy, origin: ConfigurationOrigin) {
        let (draft, origin) = try Self.draft(flag: flag, surroundings: surroundings, listen: listen)
        return (try draft.policy(Self.fetchNothing), origin)
    }

    /// Reads, checks and compiles a configuration from memory. Its lists are all in files.
    package static func policy(
        yaml: [UInt8], file: String, surroundings: LoaderEnvironment, listen: [ListenAddress]? = nil
    ) throws(ConfigurationError) -> Policy {
        try Self.draft(yaml: yaml, file: file, surroundings: surroundings, listen: listen).policy(Self.fetchNothing)
    }

    private static func fetchNothing(_ list: String) throws(Malformed) -> PolicyDraft.Fetched {
        throw Malformed("the list was not fetched, since nothing is fetched here")
    }

    /// Reads, checks and compiles a configuration from memory. Problems of reading and compiling are reported together.
    package static func draft(
        yaml: [UInt8], file: String, surroundings: LoaderEnvironment, listen: [ListenAddress]? = nil
    ) throws(ConfigurationError) -> PolicyDraft {
        let context = LoadingContext(file: file, surroundings: surroundings, listen: listen)
        guard let configuration = YAMLDocument.compose(yaml, context).map(ConfigurationReader.read) else {
            throw ConfigurationError(context.problems)
        }
        for path in configuration.identityAndTrustFiles { surroundings.note(path) }
        // Leaves out entries that were not read whole: compiling would only report them again, less clearly.
        let whole = configuration.trust.filter { !context.faultyTrust.contains($0.name) }
        let trust = TrustCompiler.compile(whole) { context.report($0, path: $1, at: $2) }
        let contracts = ContractCompiler.compile(configuration, surroundings: surroundings) {
            context.report($0, path: $1, at: $2)
        }
        let listenTLS = ListenCompiler.compile(configuration) { context.report($0, path: $1, at: $2) }
        try context.throwProblems(log: configuration.log)
        return PolicyDraft(
            configuration, file: file, trust: trust, contracts: contracts, listenTLS: listenTLS,
            machineName: surroundings.machineName)
    }

    /// Reads and checks the file at `path`.
    package static func configuration(
        path: String, surroundings: LoaderEnvironment
    ) throws(ConfigurationError) -> Configuration {
        try Self.configuration(yaml: try Self.read(path, surroundings), file: path, surroundings: surroundings)
    }

    /// Reads and checks a configuration from memory.
    ///
    /// - Parameters:
    ///   - yaml: the text in UTF-8.
    ///   - file: the name in messages; paths in the text are relative to its folder.
    package static func configuration(
        yaml: [UInt8], file: String, surroundings: LoaderEnvironment
    ) throws(ConfigurationError) -> Configuration {
        let context = LoadingContext(file: file, surroundings: surroundings)
        guard let configuration = YAMLDocument.compose(yaml, context).map(ConfigurationReader.read) else {
            throw ConfigurationError(context.problems)
        }
        try context.throwProblems()
        return configuration
    }

    private static func read(_ path: String, _ surroundings: LoaderEnvironment) throws(ConfigurationError) -> [UInt8] {
        do throws(LoaderEnvironment.ReadingError) {
            return try surroundings.read(path, YAMLDocument.byteLimit)
        } catch {
            let message = error.words(for: path, limit: YAMLDocument.byteLimit)
            var problems = ConfigurationProblems()
            problems.add(ConfigurationProblem(file: path, position: nil, path: "", message: message))
            throw ConfigurationError(problems)
        }
    }
}
