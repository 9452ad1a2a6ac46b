// SPDX-License-Identifier: Apache-2.0

internal import PintleCache
internal import PintleSystem

/// The removals since the program began, for all caches that its configurations had one after the other: a folder that is opened
/// by a reload has responses that were removed while it was closed, and a request changes what each of these caches keeps.
///
/// Its lock may be taken under that of a ``SharedCache``.
package final class RemovalHistory: Sendable {
    private struct State {
        /// The number of the last removal.
        var last: UInt64 = 0
        /// Each removal once, with the number of its last time.
        var numbers: [CacheSelection: UInt64] = [:]
        /// The memory that these take, in bytes.
        var cost = 0
        /// Removals up to this number are not known any more.
        var forgotten: UInt64 = 0
        /// The number of the last removal when a folder was closed.
        var closed: [String: UInt64] = [:]
        /// In the order of their configurations.
        var members: [Member] = []
    }

    private struct Member {
        weak var cache: SharedCache?
    }

    private let state = Locked(State())
    /// The most memory that removals take, in bytes. Beyond it, all that happened so far counts as a removal of everything.
    private let most: Int
    /// The most folders that are known; an unknown one counts as closed since the program began.
    private static let mostFolders = 16

    package init(most: Int = 256 << 10) { self.most = most }

    /// Notes a removal.
    func note(_ selection: CacheSelection) {
        self.state.withLock { state in
            state.last += 1
            if state.numbers.updateValue(state.last, forKey: selection) == nil { state.cost += selection.cost }
            if selection == .all || state.cost > self.most {
                (state.numbers, state.cost, state.forgotten) = ([:], 0, state.last)
            }
        }
    }

    // MARK: Folders

    /// Notes that a folder has, or gets, all removals so far, and is closed.
    func noteClosed(_ folder: String) {
        self.state.withLock { state in
            if state.closed.count >= Self.mostFolders { state.closed = [:] }
            state.closed[folder] = state.last
        }
    }

    /// The removals since a folder was closed, or since the program began.
    func missed(by folder: String) -> [CacheSelection] {
        self.state.withLock { state in
            let closed = state.closed[folder] ?? 0
            if closed < state.forgotten { return [.all] }
            return state.numbers.filter { $0.value > closed }.map(\.key)
        }
    }

    // MARK: Caches

    func add(_ cache: SharedCache) {
        self.state.withLock { state in
            state.members.removeAll { $0.cache == nil }
            state.members.append(Member(cache: cache))
        }
    }

    /// The caches that requests still use, in the order of their configurations, in which a folder goes from one to the next.
    var caches: [SharedCache] { self.state.withLock { $0.members.compactMap { $0.cache } } }
}
