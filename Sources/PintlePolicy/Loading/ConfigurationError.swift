// SPDX-License-Identifier: Apache-2.0

/// Why a configuration is not used: everything that is wrong with it, not only the first thing.
package struct ConfigurationError: Error, Equatable, CustomStringConvertible {
    /// In the order of the file; never empty.
    package let problems: [ConfigurationProblem]
    /// What the file says of `log.format`, as far as it could be read: problems are logged in it, too.
    package let logFormat: LogConfiguration.Format?

    package init(_ problems: [ConfigurationProblem], logFormat: LogConfiguration.Format? = nil) {
        self.logFormat = logFormat
        self.problems = problems.sorted { ($0.position ?? .start) < ($1.position ?? .start) }
    }

    /// One problem per line.
    package var description: String { self.problems.map(\.description).joined(separator: "\n") }
}

/// One thing that is wrong with a configuration.
package struct ConfigurationProblem: Sendable, Equatable, CustomStringConvertible {
    /// The file as it was named, or what stands in for one.
    package let file: String
    /// Nil when the file as a whole is meant.
    package let position: SourcePosition?
    /// `routes[2].pins[0]`; empty for the top level.
    package let path: String
    /// What is wrong and what would be right. May go on in indented lines.
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
    /// The first character: where what has no place of its own is sorted.
    static let start = SourcePosition(line: 1, column: 1)
}
