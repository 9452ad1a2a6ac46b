// SPDX-License-Identifier: Apache-2.0

/// The place of one handler in a ``DownloadTable``.
package struct DownloadPlace: Sendable, Hashable {
    /// The number of the transfer, never used twice.
    package let transfer: Int
    /// The number of the handler, never used twice.
    package let handler: Int
}

/// Keeps which handlers wait for which transfer, which transfers run, and which wait for their turn: the decisions of a
/// ``Downloader`` as a value that is notified of events.
///
/// A transfer counts from its start until its end is reported here, even if it is cancelled: so the maximum always
/// holds.
package struct DownloadTable<Key: Hashable & Sendable, Work: Sendable, Handler: Sendable>: Sendable {
    private struct Transfer: Sendable {
        let key: Key?
        let work: Work
        /// The handlers that wait, in the order of their calls; empty if all have been cancelled.
        var handlers: [(number: Int, handler: Handler)]
        var isStarted: Bool
    }

    /// The outcome of a call that asks for a value.
    package struct Admission: Sendable {
        package let place: DownloadPlace
        /// The work to wait for: an existing one, or the new one.
        package let work: Work
        /// True if there was a transfer for the same key.
        package let hasJoined: Bool
        /// True if the caller must start the work now.
        package let starts: Bool
    }

    /// The outcome of a cancellation.
    package enum Cancellation: Sendable {
        /// No handler waits at this place, or no longer.
        case nobody
        /// Other handlers wait for the same transfer.
        case left(Handler)
        /// No handler is left, so the work must be cancelled.
        case abandoned(Handler, Work)
    }

    /// The highest number of transfers that run at a time.
    package let limit: Int
    /// The order in which waiting transfers are started.
    package let order: TransferQueue.Order
    /// The number of transfers that were started and have not ended.
    package private(set) var startedCount = 0
    private var transfers: [Int: Transfer] = [:]
    /// The transfers that further requests can join, by key.
    private var joinable: [Key: Int] = [:]
    /// The transfers that were not started, in the order of their making.
    private var waiting: [Int] = []
    private var lastNumber = 0

    /// Makes an empty table.
    ///
    /// - Parameter limit: the highest number of transfers that run at a time, at least 1.
    package init(limit: Int, order: TransferQueue.Order) {
        precondition(limit > 0, "a downloader with the limit \(limit) would never start anything")
        self.limit = limit
        self.order = order
    }

    /// The number of transfers that were not started.
    package var waitingCount: Int { self.waiting.count }

    /// Adds a handler to the transfer for `key`.
    ///
    /// - Returns: nil if there is no transfer to join.
    package mutating func join(_ key: Key, _ handler: Handler) -> Admission? {
        guard let number = self.joinable[key], let work = self.transfers[number]?.work else { return nil }
        let place = DownloadPlace(transfer: number, handler: self.nextNumber())
        self.transfers[number]?.handlers.append((place.handler, handler))
        return Admission(place: place, work: work, hasJoined: true, starts: false)
    }

    /// Adds a transfer, or joins one that was added in between.
    ///
    /// - Parameter key: nil for a transfer that no other request may join.
    package mutating func add(_ work: Work, for key: Key?, _ handler: Handler) -> Admission {
        if let key, let admission = self.join(key, handler) { return admission }
        let place = DownloadPlace(transfer: self.nextNumber(), handler: self.nextNumber())
        let starts = self.startedCount < self.limit
        self.transfers[place.transfer] = Transfer(
            key: key, work: work, handlers: [(place.handler, handler)], isStarted: starts)
        if let key { self.joinable[key] = place.transfer }
        if starts { self.startedCount += 1 } else { self.waiting.append(place.transfer) }
        return Admission(place: place, work: work, hasJoined: false, starts: starts)
    }

    /// Returns the work that the handler at this place waits for; nil if it no longer waits.
    package func work(at place: DownloadPlace) -> Work? {
        guard let transfer = self.transfers[place.transfer],
            transfer.handlers.contains(where: { $0.number == place.handler })
        else { return nil }
        return transfer.work
    }

    /// True if a handler waits for the transfer.
    package func isWanted(_ transfer: Int) -> Bool { self.transfers[transfer]?.handlers.isEmpty == false }

    /// Removes a waiting handler.
    package mutating func cancel(_ place: DownloadPlace) -> Cancellation {
        guard var transfer = self.transfers[place.transfer],
            let index = transfer.handlers.firstIndex(where: { $0.number == place.handler })
        else { return .nobody }
        let handler = transfer.handlers.remove(at: index).handler
        self.transfers[place.transfer] = transfer
        guard transfer.handlers.isEmpty else { return .left(handler) }
        // Frees the key, so that the next equal request makes a new transfer while this one comes to its end.
        if let key = transfer.key { self.joinable[key] = nil }
        if !transfer.isStarted {
            self.transfers[place.transfer] = nil
            self.waiting.removeAll { $0 == place.transfer }
        }
        return .abandoned(handler, transfer.work)
    }

    /// Notes the end of a transfer. The end of one that was cancelled before its start changes nothing.
    ///
    /// - Returns: the handlers that waited for it, in the order of their calls, and the work to start in its place.
    package mutating func ended(_ number: Int) -> (handlers: [Handler], starting: [Work]) {
        guard let transfer = self.transfers.removeValue(forKey: number) else { return ([], []) }
        if let key = transfer.key, self.joinable[key] == number { self.joinable[key] = nil }
        if transfer.isStarted { self.startedCount -= 1 } else { self.waiting.removeAll { $0 == number } }
        var starting: [Work] = []
        while self.startedCount < self.limit, let next = self.nextWaiting() {
            self.transfers[next]?.isStarted = true
            self.startedCount += 1
            if let work = self.transfers[next]?.work { starting.append(work) }
        }
        return (transfer.handlers.map(\.handler), starting)
    }

    private mutating func nextWaiting() -> Int? {
        guard !self.waiting.isEmpty else { return nil }
        switch self.order {
        case .firstInFirstOut: return self.waiting.removeFirst()
        case .lastInFirstOut: return self.waiting.removeLast()
        }
    }

    private mutating func nextNumber() -> Int {
        self.lastNumber += 1
        return self.lastNumber
    }
}
