// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// Password checks that wait, each some ten milliseconds of work: clients take turns, so that whoever tries many passwords
/// waits for himself. Clients that have shown a right password lately go before those that have not.
struct PasswordQueue<Job> {
    /// The most checks of one client that wait.
    static var mostOfOne: Int { 64 }
    /// The most of all clients; those that have shown a right password are taken beyond it.
    static var mostInAll: Int { 1024 }
    /// How many checks of proven clients are taken in a row while others wait.
    static var turnsOfProven: Int { 3 }

    private var proven = FairQueue<Client?, Job>()
    private var others = FairQueue<Client?, Job>()
    private var turns = 0
    /// The number of checks that wait.
    var count: Int { self.proven.count + self.others.count }

    /// Takes a check, unless too many wait.
    ///
    /// - Parameter client: nil stands for all clients that the system does not tell apart.
    mutating func append(_ job: Job, of client: Client?, isProven: Bool) -> Bool {
        let own = self.proven.count(of: client) + self.others.count(of: client)
        guard own < Self.mostOfOne, isProven || self.count < Self.mostInAll else { return false }
        if isProven { self.proven.append(job, of: client) } else { self.others.append(job, of: client) }
        return true
    }

    /// The check whose turn it is.
    mutating func popFirst() -> Job? {
        let othersTurn = self.turns >= Self.turnsOfProven
        let first = othersTurn ? self.others.popFirst() : self.proven.popFirst()
        guard let job = first ?? (othersTurn ? self.proven.popFirst() : self.others.popFirst()) else { return nil }
        self.turns = first == nil || othersTurn ? 0 : self.turns + 1
        return job
    }
}

extension PasswordQueue: Sendable where Job: Sendable {}
