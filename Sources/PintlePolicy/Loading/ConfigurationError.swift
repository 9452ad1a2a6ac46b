// SPDX-License-Identifier: Apache-2.0

/// The reason why a configuration is not used: all of its problems, not only the first.
package struct ConfigurationError: Error, Equatable, CustomStringConvertible {
    private let found: ConfigurationProblems
    /// The `log.format` of the file, as far as it could be read: problems are logged in that format, too.
    package let logFormat: LogConfiguration.Format?

    /// - Parameter problems: at least one.
    package init(_ problems: ConfigurationProblems, logFormat: LogConfiguration.Format? = nil) {
        self.logFormat = logFormat
        self.found = problems
    }

    /// The first problems in the order of the file; never empty. ``lines`` tells how many more there are.
    package var problems: [ConfigurationProblem] { self.found.kept }
    /// The number of all problems.
    package var count: Int { self.found.count }
    /// True if no problem has a place: the file could not be read at all.
    package var isUnreadable: Bool { !self.found.havePlaces }
    /// The lines to show: one for each of ``problems``, and a last one with the number of the others.
    package var lines: [String] { self.found.lines }
    /// All lines.
    package var description: String { self.lines.joined(separator: "\n") }
}

/// One problem of a configuration.
package struct ConfigurationProblem: Sendable, Equatable, CustomStringConvertible {
    /// The file as it was named; without one, a name for the source.
    package let file: String
    /// Nil if the problem concerns the file as a whole.
    package let position: SourcePosition?
    /// The path of the key: `routes[2].pins[0]`; empty for the top level.
    package let path: String
    /// The fault and its remedy. May continue in indented lines.
    package let message: String

    package init(file: String, position: SourcePosition?, path: String, message: String) {
        self.file = file
        self.position = position
        self.path = path
        self.message = message
    }

    /// `file:line:column: path: message`.
    package var description: String {
        let place = self.position.map { $0.description(inMain: self.file) } ?? self.file
        return self.path.isEmpty ? "\(place): \(self.message)" : "\(place): \(self.path): \(self.message)"
    }
}

extension SourcePosition {
    /// The first character. Problems without a place of their own are sorted as if they were here.
    static let start = SourcePosition(line: 1, column: 1)
}
