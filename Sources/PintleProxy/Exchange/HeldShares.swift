// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleMessage
internal import PintlePolicy

/// The share of one exchange in the memory that is held for others, and the work for it on another thread.
struct HeldShares {
    private var request = MemoryShare()
    private var response = MemoryShare()
    private let limit: Int
    private let memory: MemoryBudget
    /// The number of bytes of a body that are kept until the end, because they may have to be sent again.
    var wholeBody = 0
    /// Work that the exchange waits for.
    var job: WorkPool.Ticket?

    init(limit: Int, of memory: MemoryBudget) {
        self.limit = limit
        self.memory = memory
    }

    /// - Returns: false where `limits.held_bytes` does not allow for so many bytes of the request's body.
    mutating func holdRequest(_ bytes: Int) -> Bool {
        self.request.resize(to: bytes, of: self.memory, limit: self.limit)
    }

    /// - Returns: false where `limits.held_bytes` does not allow for so many bytes of the response's body.
    mutating func holdResponse(_ bytes: Int) -> Bool {
        self.response.resize(to: bytes, of: self.memory, limit: self.limit)
    }

    /// Counts what waits on the way up, which the window bounds.
    mutating func count(waiting bytes: Int) {
        self.request.resize(to: max(bytes, self.wholeBody), of: self.memory)
    }

    /// Gives the response's part back, as far as it is not `bytes`.
    mutating func letResponseGo(butFor bytes: Int) { self.response.resize(to: bytes, of: self.memory) }

    /// Gives everything back, and gives up the work that is under way.
    ///
    /// - Returns: whether there was work that will never begin.
    mutating func giveBack(_ pool: WorkPool) -> Bool {
        guard let job else {
            self.request.resize(to: 0, of: self.memory)
            self.response.resize(to: 0, of: self.memory)
            return false
        }
        // The worker holds the bytes until it lets go of them.
        let bytes = self.request.bytes + self.response.bytes
        self.job = nil
        (self.request, self.response) = (MemoryShare(), MemoryShare())
        return pool.cancel(job, givingBack: bytes)
    }
}
