// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy

/// Fields that a recorded request may have had although the record does not show them: one choice for each set of conditions of
/// two configurations that they can meet.
struct FieldCompletions {
    /// The most choices. With more, the decision about such a request cannot be told.
    private static let most = 64

    private let patterns: [HeaderPattern]
    /// The names of fields that routes change.
    private let changed: Set<String>
    private var known: [[String]: [Fields]?] = [:]

    init(_ policies: [Policy]) {
        let routes = policies.flatMap(\.configuration.routes)
        self.patterns = routes.flatMap(\.match.headers)
        self.changed = Set(
            routes.flatMap { route in
                let rules = route.request.headers
                return (rules.defaults + rules.set + rules.add).map(\.name) + rules.remove
                    + (route.request.authorization == nil ? [] : ["Authorization"])
                    + (route.request.cookies == .pass ? [] : ["Cookie"])
            }.map { $0.lowercased() })
    }

    /// The hidden fields that a route may change.
    func changedFields(of exchange: RecordedExchange) -> [String] {
        self.changed.filter { exchange.unknown.hides(field: $0) && !exchange.head.fields.contains($0) }.sorted()
    }

    /// The choices for fields by which routes are chosen; nil if there are too many.
    mutating func choices(for exchange: RecordedExchange) -> [Fields]? {
        let hidden = self.patterns.filter { exchange.unknown.hides(field: $0.name) }
        guard !hidden.isEmpty else { return [Fields()] }
        let names = Set(hidden.map { $0.name.lowercased() }).sorted()
        if let known = self.known[names] { return known }
        let made = FieldWitnesses(hidden, most: Self.most)
        let choices = made.isComplete ? made.all : nil
        self.known[names] = .some(choices)
        return choices
    }
}
