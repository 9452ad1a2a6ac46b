// SPDX-License-Identifier: Apache-2.0

package import NIOCore
package import PintleActivity
package import PintleMessage
internal import PintlePolicy

/// A question that is open: may clients reach a destination?
package struct AskedQuestion: Sendable {
    /// The request for which it was opened. Others to the same destination wait with it.
    package struct Request: Sendable {
        package let method: String
        /// The URL without its query, which may have secrets; `host:port` for a tunnel.
        package let url: String
        /// The client's process; nil if it is not on this machine.
        let process: ClientProcess?

        init(_ head: RequestHead, of process: ClientProcess?) {
            self.method = head.method
            self.url = String((head.target.url ?? "*").prefix { $0 != "?" })
            self.process = process
        }

        /// The name and the number of the client's process; nil as long as it is not known.
        package var program: ExchangeRecord.Process? { self.process?.found }
    }

    /// The name of the question, which cannot be guessed.
    package let id: String
    package let authority: Authority
    /// The rule that asks.
    package let rule: String
    package let request: Request
    package let openedAt: Timestamp
    /// The time from which on an answer comes too late.
    package let deadline: NIODeadline
    /// The time from the beginning to ``deadline``.
    package let timeout: Duration
    /// The number of requests that wait.
    package internal(set) var waiting = 0

    /// The time left for an answer.
    package var timeLeft: Duration { .nanoseconds(max(0, (self.deadline - .now()).nanoseconds)) }
}

/// The answer to a question.
package struct Answer: Sendable, Hashable {
    /// The requests that an answer is for.
    package enum Scope: String, Sendable, CaseIterable {
        /// Those that wait.
        case once
        /// These and all others to the same destination until the process ends.
        case run

        var words: String {
            switch self {
            case .once: "once"
            case .run: "for this run"
            }
        }
    }

    package let allows: Bool
    package let scope: Scope

    package init(allows: Bool, _ scope: Scope) { (self.allows, self.scope) = (allows, scope) }
}

/// A place at which questions are answered.
package enum AnswerPlace: String, Sendable, CaseIterable {
    case terminal, page, webhook

    package var words: String {
        switch self {
        case .terminal: "at the terminal"
        case .page: "on the page"
        case .webhook: "by the webhook"
        }
    }
}

/// A permission that was an answer.
package struct AskGrant: Sendable, Equatable {
    package let authority: Authority
    package let place: AnswerPlace
    package let scope: Answer.Scope
    package let moment: Timestamp
    /// The number of requests that it has let pass.
    package internal(set) var requests: Int

    /// `granted at the terminal, once`.
    package var words: String { "granted \(self.place.words), \(self.scope.words)" }

    /// The line of a configuration that makes the question needless.
    package var line: String { "destinations: {allow: [\"\(self.authority)\"]}" }
}

/// The end of a wait for an answer.
enum AskOutcome: Sendable, Equatable {
    /// The words for the rule that stands in the record: `granted at the terminal, once`.
    case allowed(String)
    /// The reason for the refusal: `denied on the page`.
    case denied(String)

    /// The words for the log.
    var reason: String {
        switch self {
        case .allowed(let words), .denied(let words): words
        }
    }
}
