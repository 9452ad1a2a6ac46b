// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleMessage
internal import PintlePolicy

/// The memory that is held for one exchange, as a share of the common budget, and its work on another thread.
struct ExchangeReservation {
    private var request = MemoryReservation()
    private var response = MemoryReservation()
    private let limit: Int
    private let memory: MemoryBudget
    /// The bytes of a body that are kept until the end, because they may have to be sent again.
    var wholeBody = 0
    /// The work that the exchange waits for.
    var job: WorkPool.Ticket?

    init(limit: Int, of memory: MemoryBudget) {
        self.limit = limit
        self.memory = memory
    }

    /// - Returns: false if `limits.held_bytes` does not allow that many bytes of the request's body.
    mutating func holdRequest(_ bytes: Int) -> Bool {
        self.request.resize(to: bytes, of: self.memory, limit: self.limit)
    }

    /// - Returns: false if `limits.held_bytes` does not allow that many bytes of the response's body.
    mutating func holdResponse(_ bytes: Int) -> Bool {
        self.response.resize(to: bytes, of: self.memory, limit: self.limit)
    }

    /// Counts the bytes that wait in the upload; the window limits them.
    mutating func count(waiting bytes: Int) {
        self.request.resize(to: max(bytes, self.wholeBody), of: self.memory)
    }

    /// Releases the memory of the response, except for `bytes`.
    mutating func letResponseGo(butFor bytes: Int) { self.response.resize(to: bytes, of: self.memory) }

    /// Releases everything, and cancels the work.
    ///
    /// - Returns: true if there was work that will never begin.
    mutating func giveBack(_ pool: WorkPool) -> Bool {
        guard let job else {
            self.request.resize(to: 0, of: self.memory)
            self.response.resize(to: 0, of: self.memory)
            return false
        }
        // The worker holds the bytes until it ends.
        let bytes = self.request.bytes + self.response.bytes
        self.job = nil
        (self.request, self.response) = (MemoryReservation(), MemoryReservation())
        return pool.cancel(job, givingBack: bytes)
    }
}
