// SPDX-License-Identifier: Apache-2.0

/// From a configuration file to a checked configuration and a compiled policy.
package enum PolicyLoader {
    /// Finds, reads and compiles a configuration: what `serve`, `check` and every other command start with.
    ///
    /// - Parameter flag: the value of `-c`, if given.
    /// - Throws: everything that is wrong with the file, at once.
    package static func load(
        flag: String?, surroundings: Surroundings
    ) throws(ConfigurationError) -> (policy: Policy, origin: ConfigurationOrigin) {
        let origin = ConfigurationOrigin.locate(flag: flag, surroundings: surroundings)
        guard let path = origin.path else {
            return (try Policy(Configuration(), file: origin.description), origin)
        }
        let configuration = try Self.configuration(path: path, surroundings: surroundings)
        return (try Policy(configuration, file: path), origin)
    }

    /// Reads and checks the file at `path`.
    package static func configuration(
        path: String, surroundings: Surroundings
    ) throws(ConfigurationError) -> Configuration {
        let bytes: [UInt8]
        do throws(Surroundings.ReadingError) {
            bytes = try surroundings.read(path, YAMLDocument.byteLimit)
        } catch {
            let message = error.words(for: path, limit: YAMLDocument.byteLimit)
            throw ConfigurationError([ConfigurationProblem(file: path, position: nil, path: "", message: message)])
        }
        return try Self.configuration(yaml: bytes, file: path, surroundings: surroundings)
    }

    /// Reads and checks a configuration from memory.
    ///
    /// - Parameters:
    ///   - yaml: the text in UTF-8.
    ///   - file: the name for messages; paths in the text are relative to its folder.
    package static func configuration(
        yaml: [UInt8], file: String, surroundings: Surroundings
    ) throws(ConfigurationError) -> Configuration {
        let context = LoadingContext(file: file, surroundings: surroundings)
        let root = YAMLDocument.compose(yaml, context)
        let configuration = root.map(ConfigurationReader.read)
        try context.throwProblems()
        guard let configuration else { preconditionFailure("BUG: nothing was read and nothing was reported") }
        return configuration
    }
}
