// SPDX-License-Identifier: Apache-2.0

/// Keeps jobs that wait, of clients who take turns: one with many does not keep the others waiting.
package struct FairQueue<Client: Hashable, Job> {
    /// The clients with waiting jobs, the one whose turn it is first.
    private var turns: [Client] = []
    private var jobs: [Client: [Job]] = [:]
    /// The number of jobs that wait.
    package private(set) var count = 0

    package init() {}

    /// The number of jobs of one client that wait.
    package func count(of client: Client) -> Int { self.jobs[client]?.count ?? 0 }

    /// Puts a job behind the others of its client.
    package mutating func append(_ job: Job, of client: Client) {
        if self.jobs[client] == nil { self.turns.append(client) }
        self.jobs[client, default: []].append(job)
        self.count += 1
    }

    /// Takes the first job of the client whose turn it is, and lets the next client have its turn.
    package mutating func popFirst() -> Job? {
        guard !self.turns.isEmpty else { return nil }
        let client = self.turns.removeFirst()
        guard let job = self.jobs[client]?.removeFirst() else {
            preconditionFailure("BUG: a client without jobs has a turn")
        }
        if self.count(of: client) == 0 { self.jobs[client] = nil } else { self.turns.append(client) }
        self.count -= 1
        return job
    }

    /// Takes a job out before its turn; nothing happens where it does not wait.
    package mutating func removeFirst(of client: Client, where isWanted: (Job) -> Bool) {
        guard let place = self.jobs[client]?.firstIndex(where: isWanted) else { return }
        self.jobs[client]?.remove(at: place)
        self.count -= 1
        if self.count(of: client) == 0 {
            self.jobs[client] = nil
            self.turns.removeAll { $0 == client }
        }
    }
}

extension FairQueue: Sendable where Client: Sendable, Job: Sendable {}
