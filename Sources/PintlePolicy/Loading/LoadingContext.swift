// SPDX-License-Identifier: Apache-2.0

/// What all nodes of one file share while it is read: its name, its surroundings, and the problems found so far, in this file
/// and in those that are read together with it.
final class LoadingContext {
    /// The problems of all files of a configuration.
    private final class Findings {
        var problems: [ConfigurationProblem] = []
    }

    let file: String
    /// True where another file includes it.
    let isIncluded: Bool
    let surroundings: Surroundings
    /// Where clients are served whatever the file says; nil where it decides.
    let listen: [ListenAddress]?
    private let findings: Findings
    var problems: [ConfigurationProblem] { self.findings.problems }

    init(file: String, surroundings: Surroundings, listen: [ListenAddress]? = nil) {
        self.file = file
        self.isIncluded = false
        self.findings = Findings()
        self.surroundings = surroundings
        self.listen = listen
    }

    /// Makes the context of a file that is read for the sake of another.
    init(of file: String, includedBy other: LoadingContext) {
        self.file = file
        self.isIncluded = true
        self.findings = other.findings
        self.surroundings = other.surroundings
        self.listen = other.listen
    }

    /// `position` as one in this file.
    func place(_ position: SourcePosition) -> SourcePosition {
        guard self.isIncluded, position.file == nil else { return position }
        return SourcePosition(line: position.line, column: position.column, in: self.file)
    }

    /// Writes down a problem; reading goes on, so that all are reported at once.
    func report(_ message: String, path: String, at position: SourcePosition?) {
        self.findings.problems.append(
            ConfigurationProblem(
                file: self.file, position: position.map { self.place($0) }, path: path, message: message))
    }

    /// Whether something was wrong at `path` or below it.
    func hasProblem(in path: String) -> Bool {
        self.problems.contains { $0.path == path || $0.path.hasPrefix(path + ".") }
    }

    /// `path` as the process must open it: relative paths are relative to the configuration file.
    func resolve(_ path: String) -> String {
        guard !path.hasPrefix("/"), let slash = self.file.lastIndex(of: "/") else { return path }
        return self.file[...slash] + path
    }

    /// Stops if anything was wrong.
    ///
    /// - Parameter log: what could be read of the section.
    func throwProblems(log: LogConfiguration? = nil) throws(ConfigurationError) {
        if !self.problems.isEmpty { throw ConfigurationError(self.problems, logFormat: log?.format) }
    }
}
