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
/// The removals that a request has caused overtake the others, because an answer waits for them. A change of the same URL that was
/// added before such a removal is then skipped.
///
/// Stores have a budget of memory: those beyond it are turned into removals. Removals have some more; those beyond it become one
/// that removes everything.
struct ChangeQueue: Sendable {
    typealias Done = @Sendable (Int) -> Void

    fileprivate enum Part {
        /// A change of a key, or a removal, at its place in the order.
        case whole
        /// The work of a removal that overtakes the changes before it.
        case overtaking
        /// The place of such a removal in the order: all changes that it covers are over.
        case mark
        /// The removal of everything in place of removals that could not be remembered.
        case clearing
    }

    struct Job: Sendable {
        let change: CacheChange
        /// The key whose entries it changes; nil for removals that are noted in ``PendingRemovals``.
        let key: CacheKey?
        /// The memory in bytes that the job takes until it is done.
        fileprivate let cost: Int
        /// The sequence number of the job among the stores; 0 for removals.
        fileprivate var number: UInt64 = 0
        fileprivate let part: Part
        /// Called once the job has ended, with the number of removed responses.
        fileprivate var done: [Done]
    }

    /// A removal that was noted, and is still to be carried out.
    struct Removal: Sendable {
        fileprivate enum Way {
            /// At its place in the order.
            case inOrder
            /// Before all others.
            case overtaking
            /// By a removal that waits already.
            case covered
            /// Together with everything else.
            case clearing
        }

        /// The responses that it removes; all if it could not be remembered.
        let selection: CacheSelection
        fileprivate let way: Way
    }

    private var jobs: CircularBuffer<Job> = []
    private var overtaking: CircularBuffer<Job> = []
    /// Those that wait for an overtaking removal that has not begun, besides the first: clients may send many requests to one URL.
    private var sharing: [CacheSelection: [Done]] = [:]
    /// The memory that unfinished jobs take, in bytes.
    private(set) var cost = 0
    /// The number of jobs that wait.
    var count: Int { self.jobs.count + self.overtaking.count }
    /// The number of stores so far.
    private var stored: UInt64 = 0
    /// Stores up to this number are removed already, or will be: none of them needs to be carried out.
    private var cleared: UInt64 = 0
    private var removals = PendingRemovals()
    /// True while everything is being removed, because there were more removals than can be remembered.
    private var isClearing = false
    /// Those that wait until everything is removed, because of removals that could not be remembered.
    private var waitingForClearing: [Done] = []
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
        _ change: CacheChange, of key: CacheKey, cost: Int, done: @escaping Done = { _ in }
    ) -> Bool {
        self.stored += 1
        guard self.reserve(cost, within: self.mostOfStores) else {
            // Everything goes already.
            if self.isClearing { return false }
            self.carryOut(self.begin(.url(key.url), overtakes: false)) { _ in }
            return false
        }
        self.jobs.append(Job(change: change, key: key, cost: cost, number: self.stored, part: .whole, done: [done]))
        return true
    }

    private mutating func reserve(_ cost: Int, within most: Int) -> Bool {
        guard !self.isClearing, self.cost + cost <= most else { return false }
        self.cost += cost
        return true
    }

    // MARK: Removals

    /// Notes a removal: from now on no response that it covers is read. ``carryOut(_:done:)`` or ``giveUp(_:)`` has to follow.
    ///
    /// - Parameter overtakes: true for a removal of a URL that comes before the other changes. Its number of removed responses has
    ///   none of those that wait to be stored.
    mutating func begin(_ selection: CacheSelection, overtakes: Bool) -> Removal {
        if self.isClearing || overtakes && self.removals.has(selection, written: self.stored) {
            return Removal(selection: selection, way: .covered)
        }
        guard self.reserve(selection.cost, within: self.mostOfAll) else {
            // Nothing is stored until all is gone; so responses removed in the meantime are gone, too.
            self.isClearing = true
            self.note(.all, overtakes: false)
            return Removal(selection: .all, way: .clearing)
        }
        self.note(selection, overtakes: overtakes)
        return Removal(selection: selection, way: overtakes ? .overtaking : .inOrder)
    }

    private mutating func note(_ selection: CacheSelection, overtakes: Bool) {
        self.removals.add(selection, written: self.stored, overtakes: overtakes)
        if selection == .all { self.cleared = self.stored }
    }

    /// Adds a removal that was noted.
    ///
    /// - Parameter done: called with the number of removed responses when none of them is in the second tier any more, nor will be.
    mutating func carryOut(_ removal: Removal, done: @escaping Done) {
        let selection = removal.selection
        switch removal.way {
        case .inOrder: self.jobs.append(Self.job(.whole, selection, cost: selection.cost, done: [done]))
        case .overtaking:
            self.overtake(selection, done: done)
            self.jobs.append(Self.job(.mark, selection, cost: selection.cost, done: []))
        case .covered where self.isClearing: self.waitingForClearing.append { _ in done(0) }
        case .covered: self.overtake(selection, done: done)
        case .clearing: self.overtaking.append(Self.job(.clearing, selection, cost: 0, done: [done]))
        }
    }

    private mutating func overtake(_ selection: CacheSelection, done: @escaping Done) {
        if self.sharing[selection]?.append({ _ in done(0) }) != nil { return }
        self.sharing[selection] = []
        self.overtaking.append(Self.job(.overtaking, selection, cost: 0, done: [done]))
    }

    private static func job(_ part: Part, _ selection: CacheSelection, cost: Int, done: [Done]) -> Job {
        Job(change: .purge(selection), key: nil, cost: cost, part: part, done: done)
    }

    /// Forgets a removal that was noted, because the second tier is closed.
    ///
    /// - Returns: those that wait for it, called with the number of removed responses.
    mutating func giveUp(_ removal: Removal) -> [Done] {
        switch removal.way {
        case .inOrder, .overtaking:
            self.cost -= removal.selection.cost
            self.removals.end(removal.selection)
            return []
        // The other one is carried out, or given up by itself.
        case .covered: return []
        case .clearing: return self.endClearing()
        }
    }

    private mutating func endClearing() -> [Done] {
        self.removals.end(.all)
        self.isClearing = false
        defer { self.waitingForClearing = [] }
        return self.waitingForClearing
    }

    // MARK: Carrying out

    /// Takes the next job. ``end(_:)`` has to follow.
    ///
    /// - Returns: the job, and false if it has nothing to do, or its result would be removed at once; nil if there is none.
    mutating func next() -> (job: Job, isNeeded: Bool)? {
        if var job = self.overtaking.popFirst() {
            if case .overtaking = job.part, case .purge(let selection) = job.change {
                job.done += self.sharing.removeValue(forKey: selection) ?? []
            }
            return (job, true)
        }
        guard let job = self.jobs.popFirst() else { return nil }
        if case .mark = job.part { return (job, false) }
        guard let key = job.key else { return (job, true) }
        return (job, job.number > self.cleared && !self.removals.hasOvertaken(job.number, of: key.url))
    }

    /// Notes that a job is done.
    ///
    /// - Returns: called with the number of removed responses.
    mutating func end(_ job: Job) -> [Done] {
        self.cost -= job.cost
        // Changes of one key are not among the pending removals.
        guard job.key == nil, case .purge(let selection) = job.change else { return job.done }
        switch job.part {
        case .whole, .mark: self.removals.end(selection)
        // Its mark follows.
        case .overtaking: break
        case .clearing: return job.done + self.endClearing()
        }
        return job.done
    }
}
