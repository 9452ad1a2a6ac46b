// SPDX-License-Identifier: Apache-2.0

internal import PintleAdmin

extension ReferencePages {
    /// The sections about `/api/events`.
    static var live: [ReferencePage.Section] {
        [
            .init(
                title: "Live events",
                text:
                    "Server-sent events of `/api/events`. The data of each is a JSON object; its members are below. `pintle tail` "
                    + "writes the lines of `exchange` alone, and says on standard error how many it has left out.",
                kind: "event", entries: StreamEvent.allCases.map(\.entry)),
            .init(title: "Members of `lost`", kind: "member", entries: StreamEvent.Lost.allCases.map(\.entry)),
            .init(
                title: "Members of `questions`", text: "Also of `/api/questions`.", kind: "member",
                entries: StreamEvent.Question.allCases.map(\.entry)),
            .init(
                title: "Members of `activity`", text: "Also of `/api/activity`.", kind: "member",
                entries: StreamEvent.Activity.allCases.map(\.entry) + StreamEvent.Kept.allCases.map(\.entry)
                    + StreamEvent.Bodies.allCases.map(\.entry)),
            .init(
                title: "Members of `configuration`", kind: "member",
                entries: StreamEvent.Configuration.allCases.map(\.entry)),
        ]
    }
}

extension StreamEvent {
    fileprivate var entry: ReferencePage.Entry {
        .init(
            self.rawValue, [("members", self == .exchange ? "those of `pintle help fields`" : nil)], self.meaning)
    }

    private var meaning: String {
        switch self {
        case .exchange: "An exchange or a tunnel that has ended. Its id resumes the stream (`Last-Event-ID`)."
        case .lost: "Exchanges that are left out: more came than the client has read."
        case .questions:
            "The open questions of `destinations.ask`: at the beginning, if there were any so far, and at each change."
        case .activity:
            "The state and the counters, at the beginning and once a second while they change. Its id resumes the stream."
        case .configuration: "Another configuration is in force."
        }
    }
}

extension StreamEvent.Lost {
    fileprivate var entry: ReferencePage.Entry { .init(self.rawValue, [("type", self.type)], self.meaning) }

    private var type: String {
        switch self {
        case .count: "number"
        case .first, .last: "text"
        }
    }

    private var meaning: String {
        switch self {
        case .count: "The number of them."
        case .first: "The id that the event of the first of them would have had."
        case .last: "The id that the event of the last of them would have had."
        }
    }
}

extension StreamEvent.Question {
    fileprivate var entry: ReferencePage.Entry { .init(self.path, [("type", self.type)], self.meaning) }

    private var type: String {
        switch self {
        case .id, .host, .rule, .method, .url, .process: "text"
        case .pid, .waiting: "number"
        case .time: "time, UTC"
        case .timeLeft: "milliseconds"
        }
    }

    private var meaning: String {
        switch self {
        case .id: "The id, for `POST /api/questions/ID`."
        case .host: "The host and the port that are asked about."
        case .rule: "The rule that asks."
        case .method: "The method of the first request that waits."
        case .url: "Its URL, without the query."
        case .process: "The name of its client's process, if it is known."
        case .pid: "The number of that process."
        case .waiting: "The number of requests that wait for the answer."
        case .time: "The time at which the question was opened."
        case .timeLeft: "The time that is left for an answer."
        }
    }
}

extension StreamEvent.Activity {
    fileprivate var entry: ReferencePage.Entry { .init(self.rawValue, [("type", self.type)], self.meaning) }

    private var type: String {
        switch self {
        case .state, .status, .version, .revision: "text"
        case .started, .now: "time, UTC"
        case .listeners: "list"
        case .connections, .heldBytes: "number"
        case .counters, .violations, .kept, .bodies: "object"
        }
    }

    private var meaning: String {
        switch self {
        case .state: "The activity state, as in `activity.state` of the log."
        case .status: "The addresses on which clients are served, in words."
        case .version: "The version of the program."
        case .revision: "The configuration in force, as the field `revision` of an exchange has it."
        case .started: "The time at which the program started."
        case .now: "The time of this moment."
        case .listeners: "The same addresses, as a list."
        case .connections: "The number of connected clients."
        case .heldBytes: "The bytes that are held for clients and origins; `limits.held_bytes` is their bound."
        case .counters:
            "The counters of all routes (`pintle help counters`), and `violations`, the number of violations of all kinds."
        case .violations: "The violations that have occurred, by kind."
        case .kept: "The exchanges that are kept for `/api/exchanges`."
        case .bodies: "The bodies that are kept beside them, with `capture`."
        }
    }
}

extension StreamEvent.Kept {
    fileprivate var entry: ReferencePage.Entry { .init(self.path, [("type", "number")], self.meaning) }

    private var meaning: String {
        switch self {
        case .exchanges: "The number of exchanges."
        case .bytes: "The memory that they take, without bodies."
        case .mostExchanges: "The bound of their number."
        case .mostBytes: "The bound of their memory."
        case .forgotten: "The number of exchanges that were kept, and are forgotten."
        }
    }
}

extension StreamEvent.Bodies {
    fileprivate var entry: ReferencePage.Entry { .init(self.path, [("type", "number")], self.meaning) }

    private var meaning: String {
        switch self {
        case .bytes: "The memory that they take."
        case .mostBytes: "Its bound."
        case .forgotten: "The number of exchanges whose bodies were kept, and are forgotten."
        case .lost:
            "The number of exchanges whose bodies were not kept, since more ended than `capture.when` could be asked about."
        }
    }
}

extension StreamEvent.Configuration {
    fileprivate var entry: ReferencePage.Entry { .init(self.rawValue, [("type", "text")], self.meaning) }

    private var meaning: String {
        switch self {
        case .revision: "The configuration in force."
        }
    }
}
