// SPDX-License-Identifier: Apache-2.0

/// Password checks that wait, each some ten milliseconds of work: clients take turns, so that whoever tries many passwords
/// waits for himself. Clients that have shown a right password lately go before those that have not.
struct PasswordQueue<Job> {
    /// The most checks of one client that wait.
    static var mostOfOne: Int { 64 }
    /// The most of all clients; those that have shown a right password are taken beyond it.
    static var mostInAll: Int { 1024 }
    /// How many checks of proven clients are taken in a row while others wait.
    static var turnsOfProven: Int { 3 }

    /// Clients with waiting checks, in the order of their turns.
    fileprivate struct Ring {
        var clients: [Client?] = []
        var jobs: [Client?: [Job]] = [:]

        mutating func append(_ job: Job, of client: Client?) {
            if self.jobs[client] == nil { self.clients.append(client) }
            self.jobs[client, default: []].append(job)
        }

        mutating func popFirst() -> Job? {
            guard !self.clients.isEmpty else { return nil }
            let client = self.clients.removeFirst()
            guard var own = self.jobs[client], !own.isEmpty else {
                preconditionFailure("BUG: a client without a check has a turn")
            }
            let job = own.removeFirst()
            self.jobs[client] = own.isEmpty ? nil : own
            if !own.isEmpty { self.clients.append(client) }
            return job
        }
    }

    private var proven = Ring()
    private var others = Ring()
    private var turns = 0
    /// How many checks wait.
    private(set) var count = 0

    /// Takes a check, unless too many wait.
    ///
    /// - Parameter client: nil stands for all clients that the system does not tell apart.
    mutating func append(_ job: Job, of client: Client?, isProven: Bool) -> Bool {
        let own = (self.proven.jobs[client]?.count ?? 0) + (self.others.jobs[client]?.count ?? 0)
        guard own < Self.mostOfOne, isProven || self.count < Self.mostInAll else { return false }
        if isProven { self.proven.append(job, of: client) } else { self.others.append(job, of: client) }
        self.count += 1
        return true
    }

    /// The check whose turn it is.
    mutating func popFirst() -> Job? {
        let othersTurn = self.turns >= Self.turnsOfProven
        let first = othersTurn ? self.others.popFirst() : self.proven.popFirst()
        guard let job = first ?? (othersTurn ? self.proven.popFirst() : self.others.popFirst()) else { return nil }
        self.turns = first == nil || othersTurn ? 0 : self.turns + 1
        self.count -= 1
        return job
    }
}

extension PasswordQueue: Sendable where Job: Sendable {}
extension PasswordQueue.Ring: Sendable where Job: Sendable {}
