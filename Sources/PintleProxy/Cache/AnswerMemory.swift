// SPDX-License-Identifier: Apache-2.0

internal import PintleCache
internal import PintleStorage

/// The answers in memory: those of a key together, as they are used together.
struct AnswerMemory {
    private var kept: AutoPurgingTable<CacheKey, [KeptAnswer]>

    init(capacity: Int, afterPurge: Int) {
        self.kept = AutoPurgingTable(capacity: capacity, preferredUsage: afterPurge)
    }

    /// The number of answers.
    var count: Int { self.kept.values.reduce(0) { $0 + $1.count } }

    /// The bytes that they take.
    var usage: Int { self.kept.usage }

    /// What is kept of a key, the latest first.
    mutating func answers(for key: CacheKey) -> [KeptAnswer] { self.kept.value(for: key) ?? [] }

    mutating func keep(_ answer: KeptAnswer, at key: CacheKey, most: Int) {
        let others = (self.kept.value(for: key) ?? []).filter { !answer.replaces($0) }
        self.set([answer] + others.prefix(most - 1), at: key)
    }

    /// - Returns: false where it was not there any more.
    mutating func remove(_ answer: KeptAnswer, at key: CacheKey) -> Bool {
        guard var answers = self.kept.value(for: key),
            let index = answers.firstIndex(where: { $0.body === answer.body })
        else { return false }
        answers.remove(at: index)
        self.set(answers, at: key)
        return true
    }

    /// - Returns: how many there were.
    mutating func removeAll(where isMeant: (CacheKey, KeptAnswer) -> Bool) -> Int {
        var count = 0
        for (key, answers) in self.kept.entries {
            let others = answers.filter { !isMeant(key, $0) }
            guard others.count < answers.count else { continue }
            count += answers.count - others.count
            self.set(others, at: key)
        }
        return count
    }

    private mutating func set(_ answers: [KeptAnswer], at key: CacheKey) {
        guard !answers.isEmpty else {
            self.kept.remove(key)
            return
        }
        let cost = answers.reduce(0) { $0 + $1.cost } + 2 * (key.url.utf8.count + key.partition.utf8.count)
        self.kept.set(answers, for: key, cost: cost)
    }
}
