// SPDX-License-Identifier: Apache-2.0

/// A state of an exchange, the events that lead to it, and the outcome of all events that can happen in it.
struct State: Sendable {
    /// A clause: “while the body streams”.
    let name: String
    var policy = ""
    var request = ["GET http://a.test/"]
    var prelude: [Event] = [.begin]
    var settings = Scenario.Settings()
    let rows: [Row]

    var scenarios: [Scenario] {
        self.rows.map { row in
            Scenario(
                name: "\(self.name): \(row.name)", policy: self.policy, request: self.request,
                events: self.prelude + [.mark] + row.events, expected: row.outcome, settings: self.settings)
        }
    }
}

/// One or a few events, and the calls that both streams get from then on.
struct Row: Sendable {
    let name: String
    let events: [Event]
    let outcome: [String]

    init(_ name: String, _ events: [Event], _ outcome: [String]) {
        (self.name, self.events, self.outcome) = (name, events, outcome)
    }
}
