// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession

// Work that would hold the loop up, and memory that is held for the client.
extension Exchange {
    /// How many steps of a ``PintleMessage/WorkBudget`` are taken on the loop before work goes elsewhere: less than a
    /// millisecond, and enough for most messages.
    static let promptSteps = 2 * WorkBudget.interval
    /// Bodies longer than this, and those with a content coding, are judged elsewhere from the start.
    static let promptBytes = 32 * 1024

    /// Has work done on another thread. The exchange goes on in a later turn, unless it is over by then.
    ///
    /// - Parameters:
    ///   - work: must not know the exchange, which stays on its loop.
    ///   - proceed: told what came of it, and what interrupted it.
    /// - Throws: where as many jobs wait as may.
    func leaveLoop<Value: Sendable>(
        within limits: WorkPool.Limits, _ work: @escaping @Sendable (WorkBudget) -> Value,
        then proceed: @escaping @Sendable (Exchange, Value, WorkBudget.Interruption?) -> Void
    ) throws(WorkPool.Refusal) {
        let lane = self.connection.lane
        let ticket = lane.wait(for: self)
        do throws(WorkPool.Refusal) {
            self.job = try lane.pool.submit(for: self.connection.client, limits) { budget in
                let value = work(budget)
                let interruption = budget.interruption
                lane.loop.execute {
                    guard let exchange = lane.resume(ticket) else { return }
                    exchange.job = nil
                    // The client may have left in the meantime.
                    if case .done = exchange.answer { return }
                    proceed(exchange, value, interruption)
                    exchange.connection.resumeBody()
                }
            }
        } catch {
            _ = lane.resume(ticket)
            throw error
        }
    }

    // MARK: Memory

    /// Holds so many bytes of the request's body.
    ///
    /// - Returns: false where `limits.held_bytes` does not allow for them.
    func holdRequest(_ bytes: Int) -> Bool {
        self.requestShare.resize(to: bytes, of: self.connection.lane.memory, limit: self.gate.limits.heldBytes)
    }

    /// Holds so many bytes of the response's body.
    ///
    /// - Returns: false where `limits.held_bytes` does not allow for them.
    func holdResponse(_ bytes: Int) -> Bool {
        self.responseShare.resize(to: bytes, of: self.connection.lane.memory, limit: self.gate.limits.heldBytes)
    }

    /// Counts what waits on the way up, which the window bounds.
    func countUpload() {
        let waiting = self.pacer?.waitingBytes ?? self.transfer?.unsentBodyBytes ?? 0
        self.requestShare.resize(to: max(waiting, self.wholeBody), of: self.connection.lane.memory)
    }

    /// Gives everything back, and gives up the work that is under way.
    func letGo() {
        guard self.job != nil || self.requestShare.bytes + self.responseShare.bytes > 0 else { return }
        let lane = self.connection.lane
        if let job {
            // What is worked on is held until the worker lets go of it.
            let bytes = self.requestShare.bytes + self.responseShare.bytes
            if lane.pool.cancel(job, givingBack: bytes) { _ = lane.resume(self.report.id.sequence) }
            self.job = nil
            (self.requestShare, self.responseShare) = (MemoryShare(), MemoryShare())
        } else {
            self.requestShare.resize(to: 0, of: lane.memory)
            self.responseShare.resize(to: 0, of: lane.memory)
        }
    }

    /// Why nothing more can be held.
    var memoryShortage: String { self.gate.limits.memoryShortage }
}

extension LimitsConfiguration {
    /// Why nothing more can be held.
    var memoryShortage: String {
        "as many bytes are held as limits.held_bytes (\(self.heldBytes.spelledAsBytes)) allows; try again later"
    }
}

extension WorkBudget.Interruption {
    /// Why judging or serializing a body was given up, as far as the body is to blame.
    var reason: String? {
        switch self {
        case .steps(let limit): "it takes more than \(limit) steps"
        case .time: "it takes too much time"
        case .memory, .cancelled: nil
        }
    }
}

extension MemoryBudget: PendingWriteAccount {
    package func waitingBytes(changedBy change: Int) { self.change(by: change) }
}
