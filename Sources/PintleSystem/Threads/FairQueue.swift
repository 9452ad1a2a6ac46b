// SPDX-License-Identifier: Apache-2.0

/// A queue of jobs whose clients take turns, so that a client with many jobs does not delay the others.
///
/// Every change takes constant time.
package struct FairQueue<Client: Hashable, Job> {
    /// A job that is or was in the queue.
    package struct Ticket {
        fileprivate let number: UInt64
        fileprivate let client: Client
    }

    fileprivate struct Waiting {
        /// The client's number in the queue of turns.
        var turn: UInt64
        var jobs = WaitingLine<Job>()
    }

    /// The clients with waiting jobs, in the order of their turns.
    private var turns = WaitingLine<Client>()
    private var clients: [Client: Waiting] = [:]
    private var lastNumber: UInt64 = 0
    /// The number of waiting jobs.
    package private(set) var count = 0

    package init() {}

    /// Returns the number of one client's waiting jobs.
    package func count(of client: Client) -> Int { self.clients[client]?.jobs.count ?? 0 }

    /// Adds a job after the other jobs of its client.
    @discardableResult
    package mutating func append(_ job: Job, of client: Client) -> Ticket {
        self.lastNumber += 1
        if self.clients[client] == nil {
            self.turns.append(client, number: self.lastNumber)
            self.clients[client] = Waiting(turn: self.lastNumber)
        }
        self.clients[client]?.jobs.append(job, number: self.lastNumber)
        self.count += 1
        return Ticket(number: self.lastNumber, client: client)
    }

    /// Removes and returns the first job of the client whose turn it is; then it is the next client's turn.
    package mutating func popFirst() -> Job? {
        guard let client = self.turns.popFirst()?.element else { return nil }
        guard let job = self.clients[client]?.jobs.popFirst()?.element else {
            preconditionFailure("BUG: a client without jobs has a turn")
        }
        self.count -= 1
        guard self.count(of: client) > 0 else {
            self.clients[client] = nil
            return job
        }
        self.lastNumber += 1
        self.turns.append(client, number: self.lastNumber)
        self.clients[client]?.turn = self.lastNumber
        return job
    }

    /// Removes a job before its turn; nil if it does not wait any more.
    @discardableResult
    package mutating func remove(_ ticket: Ticket) -> Job? {
        guard let job = self.clients[ticket.client]?.jobs.remove(ticket.number) else { return nil }
        self.count -= 1
        if let waiting = self.clients[ticket.client], waiting.jobs.isEmpty {
            self.turns.remove(waiting.turn)
            self.clients[ticket.client] = nil
        }
        return job
    }
}

extension FairQueue.Ticket: Sendable where Client: Sendable {}

extension FairQueue.Waiting: Sendable where Client: Sendable, Job: Sendable {}

extension FairQueue: Sendable where Client: Sendable, Job: Sendable {}
