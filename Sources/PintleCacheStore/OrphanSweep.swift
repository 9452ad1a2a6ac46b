// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// Removes files that no index knows: bodies that were being written when a process was killed, bodies of an index that was
/// damaged, and those that could not be removed with their rows.
///
/// It has a thread of its own, holds at most a batch of names, and asks the index once for each batch.
final class OrphanSweep: Sendable {
    /// The names that are looked at in a step.
    private static let batch = 512

    /// Happens when everything was looked at, or it was stopped.
    let finished = OneTimeEvent()
    private let folder: CacheFolder
    private let index: CacheIndex
    /// The generations that no index has any more. Only those that there are at the beginning: a later one is that of the
    /// index that has taken the place of this one.
    private let others: [String]
    private let isStopped = Locked(false)

    /// Looks for other generations, of which there are few: one for each index that was damaged.
    init(_ folder: CacheFolder, _ index: CacheIndex) {
        self.folder = folder
        self.index = index
        let own = CacheFolder.name(of: index.generation)
        self.others = ((try? folder.bodies().names().next(Self.batch)) ?? []).filter { $0 != own }
    }

    /// Begins. Where there is no thread for it, orphans stay until the cache is opened again.
    func start() {
        do throws(SystemError) {
            try SystemThread.start {
                self.sweep()
                self.finished.happen()
            }
        } catch {
            self.finished.happen()
        }
    }

    /// Ends it after the step that it is at.
    func stop() { self.isStopped.withLock { $0 = true } }

    private func sweep() {
        if let bodies = try? self.folder.bodies() { for name in self.others { self.removeAll(name, in: bodies) } }
        guard let bodies = try? self.folder.bodies(of: self.index.generation) else { return }
        for number in 0..<CacheFolder.spread {
            guard let folder = try? bodies.folder(CacheFolder.folder(number)) else { continue }
            self.forEachBatch(in: folder) { self.removeUnknown($0, in: folder) }
        }
    }

    /// Removes the folder of another generation.
    private func removeAll(_ name: String, in bodies: TrustedFolder) {
        if let generation = try? bodies.folder(name) {
            self.forEachBatch(in: generation) { names in
                for name in names {
                    if let inner = try? generation.folder(name) {
                        self.forEachBatch(in: inner) { files in for file in files { inner.remove(file) } }
                    }
                    generation.removeFolder(name)
                }
            }
        }
        bodies.removeFolder(name)
    }

    private func removeUnknown(_ names: [String], in folder: TrustedFolder) {
        // Ids of this session are being written, or removed by whoever gives them up.
        let ids = names.compactMap { Int64($0, radix: 16) }.filter { $0 < self.index.firstID }
        // An index that cannot be asked knows them all.
        guard !ids.isEmpty, let known = try? self.index.known(ids) else { return }
        for id in ids where !known.contains(id) { folder.remove(CacheFolder.name(of: id)) }
    }

    /// Calls `body` with the names in a folder, in batches; none if it cannot be listed.
    private func forEachBatch(in folder: TrustedFolder, _ body: ([String]) -> Void) {
        guard let listing = try? folder.names() else { return }
        while !self.isStopped.withLock({ $0 }) {
            let names = listing.next(Self.batch)
            if names.isEmpty { return }
            body(names)
        }
    }
}
