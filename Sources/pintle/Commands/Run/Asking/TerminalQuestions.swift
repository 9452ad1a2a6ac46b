// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleProxy

/// Shows the questions about destinations at the terminal of a command, one after another, and takes the answers.
///
/// Used on the thread of the command's supervisor.
final class TerminalQuestions {
    private struct Shown {
        var prompt: QuestionPrompt
        let keyboard: Keyboard
    }

    private let board: AskBoard
    private let terminal: ForegroundTerminal
    private var shown: Shown?
    /// True if the command was stopped because it wanted to read meanwhile.
    private var hasStopped = false
    /// The time until which a key that was pressed too late has no effect.
    private var echoEnd: ContinuousClock.Instant?
    /// True while questions wait for the command to be in the foreground.
    private var waitsForForeground = false

    /// The time for which late keys are ignored; they would be signals for the command.
    private static let echo = Duration.seconds(1)
    /// The time between two looks at a command in the background.
    private static let interval = Duration.seconds(1)

    /// - Parameter wake: wakes the supervisor, from any thread.
    init(_ board: AskBoard, at terminal: ForegroundTerminal, wake: @escaping @Sendable () -> Void) {
        (self.board, self.terminal) = (board, terminal)
        board.add(.terminal)
        board.observe(wake)
    }

    /// The time at which the supervisor looks again; nil if it need not.
    var deadline: ContinuousClock.Instant? { self.waitsForForeground ? .now + Self.interval : nil }

    /// Shows the next question, or withdraws one that needs no answer any more.
    ///
    /// - Parameter child: the command's process.
    func look(_ child: pid_t) {
        let open = self.board.questions
        if let shown {
            if open.contains(where: { $0.id == shown.prompt.id }) { return }
            self.end(saying: "it waits no longer", child)
        }
        self.waitsForForeground = false
        // All have been answered.
        guard let question = open.first else { return }
        guard let keyboard = Keyboard(of: self.terminal, child: child) else {
            self.waitsForForeground = true
            return
        }
        self.show(Shown(prompt: QuestionPrompt(question), keyboard: keyboard))
    }

    private func show(_ next: Shown) {
        self.shown = next
        next.keyboard.listen(to: next.prompt.letters)
        // The cursor may be anywhere, and the command may have switched the translation of line ends off.
        Output.status("\r\n" + next.prompt.lines.joined(separator: "\r\n"))
    }

    /// Takes a signal of a key.
    ///
    /// - Returns: false if the signal is none of a question's.
    func takes(_ signal: Int32, _ child: pid_t) -> Bool {
        guard var shown else {
            return self.hasJustEnded && [SIGQUIT, SIGTSTP].contains(signal)
        }
        let key: QuestionPrompt.Key
        switch signal {
        case SIGQUIT: key = .first
        case SIGTSTP: key = .second
        case SIGINT:
            self.reply(Answer(allows: false, .once), to: shown, sending: SIGINT, child)
            return true
        default: return false
        }
        guard shown.keyboard.hears(shown.prompt.letters) else {
            self.show(shown)
            return true
        }
        if let answer = shown.prompt.press(key) {
            self.reply(answer, to: shown, child)
        } else {
            self.show(shown)
        }
        return true
    }

    private func reply(_ answer: Answer, to shown: Shown, sending signal: Int32 = 0, _ child: pid_t) {
        // Before the request goes on: a command that ends, or that reads, finds its terminal as it was.
        self.end(
            saying: "\(answer.allows ? "allowed" : "denied") \(answer.scope == .once ? "once" : "for this run")",
            sending: signal, child)
        // The clients may have left meanwhile.
        _ = self.board.answer(shown.prompt.id, answer, at: .terminal)
    }

    /// Notes that the command was stopped.
    ///
    /// - Returns: true if it is continued after the question.
    func stopped(by signal: Int32, _ child: pid_t) -> Bool {
        guard [SIGTTIN, SIGTTOU].contains(signal) else { return false }
        if self.shown != nil {
            self.hasStopped = true
            return true
        }
        // It was stopped in the background, and had the foreground again before this was noticed.
        guard self.hasJustEnded, tcgetpgrp(self.terminal.descriptor) == child else { return false }
        kill(-child, SIGCONT)
        return true
    }

    private var hasJustEnded: Bool { self.echoEnd.map { ContinuousClock.now < $0 } ?? false }

    /// Gives the terminal back; does nothing if no question is shown.
    func leave(_ child: pid_t) { if self.shown != nil { self.end(saying: "it waits no longer", child) } }

    private func end(saying words: String, sending signal: Int32 = 0, _ child: pid_t) {
        Output.status("\r\npintle: \(words)\r\n")
        self.shown?.keyboard.giveBack(sending: signal)
        self.shown = nil
        self.echoEnd = .now + Self.echo
        if self.hasStopped { kill(-child, SIGCONT) }
        self.hasStopped = false
    }
}
