// SPDX-License-Identifier: Apache-2.0

/// The problems that were found in a configuration: the first of them, in the order of the file, and the number of all.
///
/// A file of some megabytes can have a hundred thousand problems. People mend a few at a time, and each one takes more bytes
/// than the line that it is about; so those that come late are counted and not kept.
package struct ConfigurationProblems: Sendable, Equatable {
    /// The most problems that are kept.
    package static let mostKept = 100

    /// The first problems in the order of the file; those without a place come first.
    package private(set) var kept: [ConfigurationProblem] = []
    /// The number of all problems.
    package private(set) var count = 0
    /// True if any problem has a place in a file.
    package private(set) var havePlaces = false

    package init() {}

    package var isEmpty: Bool { self.count == 0 }
    package var first: ConfigurationProblem? { self.kept.first }

    /// Adds a problem. Problems of the same place stay in the order in which they are added.
    package mutating func add(_ problem: ConfigurationProblem) {
        self.note(at: problem.position)
        let index = self.index(of: problem.position)
        // Enough others come before it.
        guard index < Self.mostKept else { return }
        if self.kept.count == Self.mostKept { self.kept.removeLast() }
        self.kept.insert(problem, at: index)
    }

    /// True if a problem at the place would be kept.
    func keep(_ position: SourcePosition?) -> Bool { self.index(of: position) < Self.mostKept }

    /// Counts a problem.
    mutating func note(at position: SourcePosition?) {
        self.count += 1
        if position != nil { self.havePlaces = true }
    }

    /// The place among those that are kept: behind all that do not come later in the file.
    private func index(of position: SourcePosition?) -> Int {
        let place = position ?? .start
        var index = self.kept.count
        while index > 0, place < self.kept[index - 1].position ?? .start { index -= 1 }
        return index
    }

    /// One line for each problem that is kept, and a last one with the number of the others.
    package var lines: [String] {
        let more = self.count - self.kept.count
        let lines = self.kept.map(\.description)
        switch more {
        case 0: return lines
        case 1: return lines + ["and 1 more problem, which comes after these; mend these first"]
        default: return lines + ["and \(more) more problems, which come after these; mend these first"]
        }
    }
}
