// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// Removes files that are not in the index: bodies that were being written when a process was killed, bodies of a damaged
/// index, and bodies that could not be removed with their rows.
///
/// It has a thread of its own, holds at most one batch of names, and queries the index only for that batch.
final class OrphanSweep: Sendable {
    /// The most names in a batch.
    private static let batch = 512

    /// Happens when all files were examined, or when the sweep was stopped.
    let finished = Latch()
    private let folder: CacheFolder
    private let index: CacheIndex
    /// The generations without an index, listed at the beginning: a later one belongs to the index that has replaced this one.
    private let others: [String]
    private let isStopped = Locked(false)

    /// Lists the other generations. There are few: one for each damaged index.
    init(_ folder: CacheFolder, _ index: CacheIndex) {
        self.folder = folder
        self.index = index
        let own = CacheFolder.name(of: index.generation)
        self.others = ((try? folder.bodies().names().next(Self.batch)) ?? []).filter { $0 != own }
    }

    /// Starts the sweep. If no thread is available, orphans stay until the cache is opened again.
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

    /// Stops the sweep after the current batch.
    func stop() { self.isStopped.withLock { $0 = true } }

    private func sweep() {
        if let bodies = try? self.folder.bodies() { for name in self.others { self.removeAll(name, in: bodies) } }
        // A folder that cannot be opened is swept after the next opening.
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
        // Files of this session are skipped: they are being written, or are removed by their writers.
        let ids = names.compactMap { Int64($0, radix: 16) }.filter { $0 < self.index.firstID }
        // If the index cannot be queried, no file is removed.
        guard !ids.isEmpty, let known = try? self.index.known(ids) else { return }
        for id in ids where !known.contains(id) { folder.remove(CacheFolder.name(of: id)) }
    }

    /// Calls `body` with the names in a folder, in batches; does nothing if the folder cannot be listed.
    private func forEachBatch(in folder: TrustedFolder, _ body: ([String]) -> Void) {
        guard let listing = try? folder.names() else { return }
        while !self.isStopped.withLock({ $0 }) {
            let names = listing.next(Self.batch)
            if names.isEmpty { return }
            body(names)
        }
    }
}
