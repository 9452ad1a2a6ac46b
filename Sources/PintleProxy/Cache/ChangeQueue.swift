// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCache
internal import PintleCacheStore
internal import PintleMessage

/// A change of the second tier.
enum CacheChange: Sendable {
    typealias Entry = CacheEntry<SharedBody>

    /// The request is the one that the response answers.
    case store(Entry, RequestHead)
    /// Stores a response whose body is written already.
    case commit(DiskCache.Writer, Entry, RequestHead)
    /// Replaces the head of a stored response by an updated one.
    case update(Entry, to: StoredResponse)
    case remove(Entry)
    /// Applies the consequences of a response that bypassed the cache.
    case learn(@Sendable ([StoredResponse]) -> [(place: Int, update: CacheUpdate)])
    case purge(CacheSelection)

    /// Skips a change whose result would be removed at once.
    func skip() { if case .commit(let writer, _, _) = self { writer.abandon() } }
}

/// The changes that the second tier has still to carry out, in their order.
///
/// Stores have a budget of memory: those beyond it are turned into removals. Removals have some more; those beyond it become one
/// that removes everything.
struct ChangeQueue: Sendable {
    struct Job: Sendable {
        let change: CacheChange
        /// The key whose entries it changes; nil for removals that are noted in ``PendingRemovals``.
        let key: CacheKey?
        /// The memory in bytes that the job takes until it is done.
        fileprivate let cost: Int
        /// The sequence number of the job among the stores; the highest possible number for removals, which are always carried
        /// out.
        fileprivate let number: UInt64
        /// True for the removal of everything in place of removals that could not be remembered.
        fileprivate var clears = false
        /// Called once the job has ended, with the number of removed responses.
        let done: @Sendable (Int) -> Void
    }

    /// A removal that was noted, and is still to be carried out.
    struct Removal: Sendable {
        fileprivate enum Way {
            case own
            /// By a removal that waits already.
            case covered
            /// Together with everything else.
            case clearing
        }

        fileprivate let selection: CacheSelection
        fileprivate let way: Way
    }

    private var jobs: CircularBuffer<Job> = []
    /// The memory that unfinished jobs take, in bytes.
    private(set) var cost = 0
    /// The number of jobs that wait.
    var count: Int { self.jobs.count }
    /// The number of stores so far.
    private var stored: UInt64 = 0
    /// Stores up to this number are removed already, or will be: none of them needs to be carried out.
    private var cleared: UInt64 = 0
    private var removals = PendingRemovals()
    /// True while everything is being removed, because there were more removals than can be remembered.
    private var isClearing = false
    /// The most memory in bytes that stores may take.
    private let mostOfStores: Int
    /// The most memory in bytes that stores and removals together may take.
    private let mostOfAll: Int

    init(mostOfStores: Int = 32 << 20, mostOfAll: Int = 48 << 20) {
        (self.mostOfStores, self.mostOfAll) = (mostOfStores, mostOfAll)
    }

    /// True if a pending removal covers a response.
    func removes(_ url: String, tags: [String]) -> Bool { self.removals.cover(url, tags: tags) }

    /// The pending removals but those of single URLs.
    var removalsByCommand: [CacheSelection] { self.removals.others }

    // MARK: Changes of one key

    /// Adds a change of a key.
    ///
    /// - Parameters:
    ///   - cost: the memory that it takes, in bytes.
    ///   - done: called once the change is carried out or superseded.
    /// - Returns: false if there is no room for it. The responses of the URL are then removed, so that no older one answers.
    mutating func add(
        _ change: CacheChange, of key: CacheKey, cost: Int, done: @escaping @Sendable (Int) -> Void = { _ in }
    ) -> Bool {
        self.stored += 1
        guard self.reserve(cost, within: self.mostOfStores) else {
            _ = self.carryOut(self.begin(.url(key.url), isCounted: false)) { _ in }
            return false
        }
        self.jobs.append(Job(change: change, key: key, cost: cost, number: self.stored, done: done))
        return true
    }

    private mutating func reserve(_ cost: Int, within most: Int) -> Bool {
        guard !self.isClearing, self.cost + cost <= most else { return false }
        self.cost += cost
        return true
    }

    // MARK: Removals

    /// Notes a removal: from now on no response that it covers is read.
    ///
    /// - Parameter isCounted: false if the number of removed responses does not matter.
    mutating func begin(_ selection: CacheSelection, isCounted: Bool) -> Removal {
        if self.isClearing || !isCounted && self.removals.has(selection, written: self.stored) {
            return Removal(selection: selection, way: .covered)
        }
        guard self.reserve(selection.cost, within: self.mostOfAll) else {
            // Nothing is stored until all is gone; so responses removed in the meantime are gone, too.
            self.isClearing = true
            self.note(.all)
            return Removal(selection: .all, way: .clearing)
        }
        self.note(selection)
        return Removal(selection: selection, way: .own)
    }

    private mutating func note(_ selection: CacheSelection) {
        self.removals.add(selection, written: self.stored)
        if selection == .all { self.cleared = self.stored }
    }

    /// Adds a removal that was noted.
    ///
    /// - Parameter done: called with the number of removed responses.
    /// - Returns: false if another removal does it; `done` is not called then.
    mutating func carryOut(_ removal: Removal, done: @escaping @Sendable (Int) -> Void) -> Bool {
        if case .covered = removal.way { return false }
        let clears = if case .clearing = removal.way { true } else { false }
        self.jobs.append(
            Job(
                change: .purge(removal.selection), key: nil, cost: clears ? 0 : removal.selection.cost, number: .max,
                clears: clears, done: done))
        return true
    }

    // MARK: Carrying out

    /// Takes the next job. ``end(_:)`` has to follow.
    ///
    /// - Returns: the job, and false if its result would be removed at once; nil if there is none.
    mutating func next() -> (job: Job, isNeeded: Bool)? {
        self.jobs.popFirst().map { ($0, $0.number > self.cleared) }
    }

    /// Notes that a job is done.
    mutating func end(_ job: Job) {
        self.cost -= job.cost
        // Changes of one key are not among the pending removals.
        guard job.key == nil, case .purge(let selection) = job.change else { return }
        self.removals.end(selection)
        if job.clears { self.isClearing = false }
    }
}
