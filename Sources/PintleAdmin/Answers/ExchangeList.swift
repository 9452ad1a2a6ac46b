// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintlePolicy
internal import PintleProxy
internal import PintleSerialization
internal import PintleWatch

/// The kept exchanges that a filter chooses, the newest first.
struct ExchangeList {
    private static let limits = 1...1000
    private static let usualLimit = 200

    private let recent: RecentExchanges
    private let redaction: Redaction
    private let version: String

    init(_ recent: RecentExchanges, _ program: any AdminProgram) {
        (self.recent, self.redaction, self.version) = (recent, program.redaction, program.version)
    }

    /// `limit`, `filter`, and `before`, the id of the last exchange of the page before.
    func text(_ query: AdminQuery) throws(AdminGate.Refusal) -> [UInt8] {
        let filter = try query.filter()
        let limit = try Self.limit(query)
        var end = self.recent.numbers.upperBound
        if let before = query["before"] {
            guard let kept = self.recent.find(id: before) else {
                throw AdminGate.Refusal(
                    status: 404, title: "Not kept", detail: "\(before) is not among the exchanges that are kept")
            }
            end = kept.number
        }
        var found: [[UInt8]] = []
        var hasMore = false
        self.forEach(before: end) { exchange in
            let shown = exchange.shown(self.redaction)
            guard filter.matches(shown) else { return true }
            hasMore = found.count == limit
            if !hasMore { found.append(JSONText.record(shown)) }
            return !hasMore
        }
        return JSONText.object([
            ("exchanges", JSONText.array(found)), ("more", JSONText.value(.bool(hasMore))),
        ])
    }

    private static func limit(_ query: AdminQuery) throws(AdminGate.Refusal) -> Int {
        guard let text = query["limit"] else { return Self.usualLimit }
        guard let limit = Int(text), Self.limits.contains(limit) else {
            throw AdminGate.Refusal(
                status: 400, title: "Not a limit",
                detail: "limit is a number from \(Self.limits.lowerBound) to \(Self.limits.upperBound)")
        }
        return limit
    }

    /// Goes from the newest to the oldest, until `body` returns false.
    private func forEach(before end: UInt64, _ body: (ObservedExchange) -> Bool) {
        var end = end
        while true {
            let start = max(self.recent.numbers.lowerBound, end - min(end, UInt64(RecentExchanges.mostAtOnce)))
            // The oldest was the last one.
            guard start < end else { return }
            for kept in self.recent.numbers(start..<end).reversed() where !body(kept.exchange) { return }
            end = start
        }
    }
}
