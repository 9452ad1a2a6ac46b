// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// Waiting password checks, each about ten milliseconds of work. Clients take turns, so that a client that tries many passwords
/// delays only itself. Clients that have recently shown a correct password have priority.
struct PasswordQueue<Job> {
    /// The most waiting checks of one client.
    static var mostOfOne: Int { 64 }
    /// The most waiting checks of all clients; checks of proven clients are accepted beyond it.
    static var mostInAll: Int { 1024 }
    /// The most checks of proven clients in a row while others wait.
    static var turnsOfProven: Int { 3 }

    private var proven = FairQueue<Client?, Job>()
    private var others = FairQueue<Client?, Job>()
    private var turns = 0
    /// The number of waiting checks.
    var count: Int { self.proven.count + self.others.count }

    /// Adds a check, unless too many wait.
    ///
    /// - Parameter client: nil stands for all clients that the system does not identify.
    mutating func append(_ job: Job, of client: Client?, isProven: Bool) -> Bool {
        let own = self.proven.count(of: client) + self.others.count(of: client)
        guard own < Self.mostOfOne, isProven || self.count < Self.mostInAll else { return false }
        if isProven { self.proven.append(job, of: client) } else { self.others.append(job, of: client) }
        return true
    }

    /// Removes and returns the next check.
    mutating func popFirst() -> Job? {
        let othersTurn = self.turns >= Self.turnsOfProven
        let first = othersTurn ? self.others.popFirst() : self.proven.popFirst()
        guard let job = first ?? (othersTurn ? self.proven.popFirst() : self.others.popFirst()) else { return nil }
        self.turns = first == nil || othersTurn ? 0 : self.turns + 1
        return job
    }
}

extension PasswordQueue: Sendable where Job: Sendable {}
