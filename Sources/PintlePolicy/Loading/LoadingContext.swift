// SPDX-License-Identifier: Apache-2.0

/// What all nodes of one file share while it is read: its name, its surroundings, and the problems found so far.
final class LoadingContext {
    let file: String
    let surroundings: Surroundings
    /// Where clients are served whatever the file says; nil where it decides.
    let listen: [ListenAddress]?
    private(set) var problems: [ConfigurationProblem] = []

    init(file: String, surroundings: Surroundings, listen: [ListenAddress]? = nil) {
        self.file = file
        self.surroundings = surroundings
        self.listen = listen
    }

    /// Writes down a problem; reading goes on, so that all are reported at once.
    func report(_ message: String, path: String, at position: SourcePosition?) {
        self.problems.append(ConfigurationProblem(file: self.file, position: position, path: path, message: message))
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
