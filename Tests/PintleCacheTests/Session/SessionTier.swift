// SPDX-License-Identifier: Apache-2.0

import PintleMessage

@testable import PintleCache

/// The simulated second tier: stored responses, and the changes that it has still to carry out.
struct SessionTier {
    typealias Entry = CacheEntry<SessionBytes>

    enum Change {
        case store(Entry, RequestHead)
        case update(Entry, to: StoredResponse)
        case remove(Entry)
        /// Applies the consequences of a response that bypassed the cache.
        case learn(([StoredResponse]) -> [(place: Int, update: CacheUpdate)])
        case purge(CacheSelection)
    }

    /// The latest first.
    private var entries: [Entry] = []
    private var changes: [(change: Change, fetch: UInt64?)] = []
    /// The fetches that wait for changes that are carried out.
    private var ended: [UInt64] = []

    var isSettled: Bool { self.changes.isEmpty }

    /// Adds a change of the key; the session is told of it.
    ///
    /// - Parameter fetch: the fetch that ends when the change is carried out.
    mutating func add(
        _ change: Change, in session: inout CacheSession<SessionHost>, ending fetch: UInt64? = nil
    ) {
        session.beginChange()
        self.changes.append((change, fetch))
    }

    mutating func remove(_ selection: CacheSelection) { self.changes.append((.purge(selection), nil)) }

    /// The removals that wait to be carried out.
    var removals: [CacheSelection] {
        self.changes.compactMap { change, _ -> CacheSelection? in
            if case .purge(let selection) = change { selection } else { nil }
        }
    }

    mutating func takeEnded() -> [UInt64] {
        defer { self.ended = [] }
        return self.ended
    }

    // MARK: Reading

    func find(_ request: RequestHead, mode: CacheMode, at now: CacheTime) -> Entry? {
        let index = SessionHost.rules.concerned(
            by: request, among: self.entries.map(\.response), mode: mode, now: now)
        return index.map { Entry(self.entries[$0].judged, self.entries[$0].body, bodyCost: 0) }
    }

    // MARK: Changing

    mutating func carryOut(in session: inout CacheSession<SessionHost>) {
        guard !self.changes.isEmpty else { return }
        let (change, fetch) = self.changes.removeFirst()
        switch change {
        case .store(let entry, let request):
            self.entries.removeAll { SessionHost.rules.replaces(entry.response, $0.response, for: request) }
            self.entries.insert(entry, at: 0)
        case .update(let entry, let response):
            self.entries.removeAll { !$0.isLike(entry) && $0.response.isLike(response) }
            self.entries = self.entries.map { $0.isLike(entry) ? $0.with(SessionHost.rules.judged(response)) : $0 }
        case .remove(let entry): self.entries.removeAll { $0.isLike(entry) }
        case .learn(let updates): self.learn(updates(self.entries.map(\.response)))
        case .purge(let selection):
            self.entries.removeAll { selection.covers(SessionHost.url, tags: $0.response.tags) }
        }
        if case .purge = change { return }
        session.endChange()
        if let fetch { self.ended.append(fetch) }
    }

    private mutating func learn(_ updates: [(place: Int, update: CacheUpdate)]) {
        var gone: Set<UInt64> = []
        for (place, update) in updates {
            switch update {
            case .store(let response):
                self.entries[place] = self.entries[place].with(SessionHost.rules.judged(response))
            case .answerOnce(_, _, keepsStored: true), .unrelated: break
            case .answerOnce, .outdated: gone.insert(self.entries[place].id)
            }
        }
        self.entries.removeAll { gone.contains($0.id) }
    }
}
