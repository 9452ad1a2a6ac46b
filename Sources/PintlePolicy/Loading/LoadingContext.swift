// SPDX-License-Identifier: Apache-2.0

/// State shared by all nodes of one file while it is read: its name, its surroundings, and the problems found so far, in this
/// file and in those that are read together with it.
package final class LoadingContext {
    /// The problems of all files of a configuration, and facts that concern several sections of them.
    private final class Findings {
        var problems = ConfigurationProblems()
        var hasUsers = false
        var faultyTrust: Set<String> = []
    }

    package let file: String
    /// True if another file includes this one.
    let isIncluded: Bool
    package let surroundings: LoaderEnvironment
    /// The listeners that replace those of the file; nil if the file decides.
    let listen: [ListenAddress]?
    private let findings: Findings
    package var problems: ConfigurationProblems { self.findings.problems }
    /// True if clients authenticate as users; known once `clients` was read.
    var hasUsers: Bool {
        get { self.findings.hasUsers }
        set { self.findings.hasUsers = newValue }
    }
    /// The names of the trust policies that were not read whole; known once `trust` was read.
    var faultyTrust: Set<String> { self.findings.faultyTrust }

    package init(file: String, surroundings: LoaderEnvironment, listen: [ListenAddress]? = nil) {
        self.file = file
        self.isIncluded = false
        self.findings = Findings()
        self.surroundings = surroundings
        self.listen = listen
    }

    /// Makes the context of a file that another one includes.
    init(of file: String, includedBy other: LoadingContext) {
        self.file = file
        self.isIncluded = true
        self.findings = other.findings
        self.surroundings = other.surroundings
        self.listen = other.listen
    }

    /// `position` as a place in this file.
    func place(_ position: SourcePosition) -> SourcePosition {
        guard self.isIncluded, position.file == nil else { return position }
        return SourcePosition(line: position.line, column: position.column, in: self.file)
    }

    /// Adds a problem. Reading continues, so that all problems are reported at once.
    ///
    /// - Parameter message: not evaluated if enough problems come before this one, so that a search for what was meant is not
    ///   made for each of many slips.
    package func report(_ message: @autoclosure () -> String, path: String, at position: SourcePosition?) {
        let position = position.map { self.place($0) }
        guard self.problems.keep(position) else { return self.findings.problems.note(at: position) }
        let problem = ConfigurationProblem(file: self.file, position: position, path: path, message: message())
        self.findings.problems.add(problem)
    }

    /// Notes that the trust policy of the name was not read whole.
    func noteFaulty(trust name: String) { self.findings.faultyTrust.insert(name) }

    /// Turns `path` into one that the process can open: relative paths are relative to the configuration file.
    func resolve(_ path: String) -> String {
        guard !path.hasPrefix("/"), let slash = self.file.lastIndex(of: "/") else { return path }
        return self.file[...slash] + path
    }

    /// Throws if there is any problem.
    ///
    /// - Parameter log: the section `log`, as far as it could be read.
    package func throwProblems(log: LogConfiguration? = nil) throws(ConfigurationError) {
        if !self.problems.isEmpty { throw ConfigurationError(self.problems, logFormat: log?.format) }
    }
}
