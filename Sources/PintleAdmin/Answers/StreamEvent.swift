// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleSerialization

/// An event of `/api/events`, by its name there.
///
/// The lists of members are those that the documents are written from, and those of the reference, so that neither has a
/// member that the other lacks.
package enum StreamEvent: String, CaseIterable, Sendable {
    /// An exchange or a tunnel that has ended, as the exchange log has it.
    case exchange
    /// Exchanges that the reader has missed.
    case lost
    /// The open questions have changed.
    case questions
    /// The state of the program has changed.
    case activity
    /// Another configuration is in force.
    case configuration

    package enum Lost: String, CaseIterable, Sendable {
        case count, first, last
    }

    /// A member of an open question.
    package enum Question: String, CaseIterable, Sendable {
        case id, host, rule, method, url, process, pid, waiting, time
        case timeLeft = "expires_in_ms"
    }

    package enum Activity: String, CaseIterable, Sendable {
        case state, status, version, revision, started, now, listeners, connections
        case heldBytes = "held_bytes"
        case counters, violations, kept, bodies
    }

    /// A member of `activity.kept`: the exchanges that are kept for readers.
    package enum Kept: String, CaseIterable, Sendable {
        case exchanges, bytes
        case mostExchanges = "most_exchanges"
        case mostBytes = "most_bytes"
        case forgotten
    }

    /// A member of `activity.bodies`: the bodies that are kept beside them.
    package enum Bodies: String, CaseIterable, Sendable {
        case bytes
        case mostBytes = "most_bytes"
        case forgotten, lost
    }

    package enum Configuration: String, CaseIterable, Sendable {
        case revision
    }

    /// The members of the data by their paths, without the counters.
    package var members: [String] {
        switch self {
        case .exchange: ExchangeField.allCases.map(\.rawValue)
        case .lost: Lost.allCases.map(\.rawValue)
        case .questions: Question.allCases.map(\.path)
        case .activity: Activity.allCases.map(\.rawValue) + Kept.allCases.map(\.path) + Bodies.allCases.map(\.path)
        case .configuration: Configuration.allCases.map(\.rawValue)
        }
    }
}

extension StreamEvent.Question {
    /// The path from the data, which has a list of questions.
    package var path: String { "\(StreamEvent.questions.rawValue)[].\(self.rawValue)" }
}

extension StreamEvent.Kept {
    package var path: String { "\(StreamEvent.Activity.kept.rawValue).\(self.rawValue)" }
}

extension StreamEvent.Bodies {
    package var path: String { "\(StreamEvent.Activity.bodies.rawValue).\(self.rawValue)" }
}

extension Parameter {
    /// Returns an object with all members of a list of names, less those without a value.
    static func object<Name>(of names: Name.Type, _ value: (Name) -> Parameter?) -> Parameter
    where Name: CaseIterable & RawRepresentable, Name.RawValue == String {
        .object(names.allCases.map { ($0.rawValue, value($0)) })
    }
}
