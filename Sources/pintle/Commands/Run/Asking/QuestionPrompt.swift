// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleAudit
internal import PintleProxy

/// One question at the terminal, as two choices of two keys each: a pure state machine.
struct QuestionPrompt {
    /// A key of the present choice.
    enum Key: CaseIterable {
        case first, second
    }

    private enum Choice {
        /// Allow, or deny.
        case answer
        /// Once, or for this run.
        case scope(allows: Bool)
    }

    /// The name of the question.
    let id: String
    /// The line that says what is asked, and for how long.
    let head: String
    private var choice = Choice.answer

    init(_ question: AskedQuestion) {
        self.id = question.id
        let request = question.request
        let program = request.program.map { " by \($0.name) (\($0.number))" } ?? ""
        // The part of a second that is over does not count.
        let seconds = question.timeLeft.components.seconds + 1
        self.head = ReportText.line(
            "pintle: may \(request.method) \(request.url)\(program) go to \(question.authority)? \(question.rule) asks, "
                + "for \(seconds) s")
    }

    /// The letters of the keys.
    var letters: (first: Character, second: Character) {
        switch self.choice {
        case .answer: ("y", "n")
        case .scope: ("o", "r")
        }
    }

    /// The lines that tell the choice. The last has no end.
    var lines: [String] {
        switch self.choice {
        case .answer: [self.head, "pintle: press y to allow it, n to deny it: "]
        case .scope(let allows): ["pintle: \(allows ? "allow" : "deny") it: press o for once, r for this run: "]
        }
    }

    /// Takes a key.
    ///
    /// - Returns: the answer; nil if there is another choice.
    mutating func press(_ key: Key) -> Answer? {
        switch self.choice {
        case .answer:
            self.choice = .scope(allows: key == .first)
            return nil
        case .scope(let allows): return Answer(allows: allows, key == .first ? .once : .run)
        }
    }
}
