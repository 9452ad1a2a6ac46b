// SPDX-License-Identifier: Apache-2.0

/// The parts of a request by which its recording is found (`replay.match`).
package struct MatchRules: Sendable, Hashable {
    package enum Part: String, Sendable, Hashable, CaseIterable {
        case method, url, body
    }

    /// The parts that must be equal.
    package var parts: Set<Part> = Set(Part.allCases)
    /// Names of parameters of the query that do not matter.
    package var ignoredQuery: Set<String> = []
    /// Places in bodies that do not matter: the decoded segments of JSON pointers.
    package var ignoredJSON: [[String]] = []
    /// Names of fields that must be equal, too, in lower case.
    package var fields: [String] = []

    package init() {}
}

/// The order in which recordings of equal requests are played (`replay.order`).
package enum TapeOrder: String, Sendable, Hashable, CaseIterable {
    /// Each once, then the last one again.
    case sequence
    /// Always the first one.
    case first
}
