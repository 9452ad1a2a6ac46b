// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintlePolicy
internal import PintleProxy
internal import PintleSystem

/// The exchanges and tunnels that have not ended, the oldest first.
struct RunningAnswer: Sendable {
    private let running: [RunningExchange]
    private let redaction: Redaction

    init(_ running: [RunningExchange], _ redaction: Redaction) {
        self.running = running.sorted { ($0.record.time, $0.record.id) < ($1.record.time, $1.record.id) }
        self.redaction = redaction
    }

    /// `filter`.
    func reply(_ query: AdminQuery) async throws(AdminGate.Refusal) -> AdminReply {
        let filter = try query.filter()
        return await ThreadPool.shared.result {
            let shown = self.running.map { running in
                ShownExchange(
                    running.record, request: running.requestFields, response: running.responseFields,
                    redaction: self.redaction)
            }
            let records = shown.filter(filter.matches).map(JSONText.record)
            return AdminReply(json: JSONText.object([("exchanges", JSONText.array(records))]))
        }
    }
}
