// SPDX-License-Identifier: Apache-2.0

internal import Glibc
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
        self.others = FolderListing.names(in: folder.bodies, upTo: Self.batch).filter { $0 != own }
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
        for name in self.others { self.removeAll(in: "\(self.folder.bodies)/\(name)") }
        for number in 0..<CacheFolder.spread {
            let folder = self.folder.folder(number, of: self.index.generation)
            self.forEachBatch(in: folder) { self.removeUnknown($0, in: folder) }
        }
    }

    /// Removes the folder of another generation.
    private func removeAll(in folder: String) {
        self.forEachBatch(in: folder) { names in
            for name in names {
                let inner = "\(folder)/\(name)"
                self.forEachBatch(in: inner) { files in for file in files { unlink("\(inner)/\(file)") } }
                rmdir(inner)
            }
        }
        rmdir(folder)
    }

    private func removeUnknown(_ names: [String], in folder: String) {
        // Ids of this session are being written, or removed by whoever gives them up.
        let ids = names.compactMap { Int64($0, radix: 16) }.filter { $0 < self.index.firstID }
        // An index that cannot be asked knows them all.
        guard !ids.isEmpty, let known = try? self.index.known(ids) else { return }
        for id in ids where !known.contains(id) { unlink("\(folder)/\(String(id, radix: 16))") }
    }

    /// Calls `body` with the names in a folder, in batches; none where the folder is not there.
    private func forEachBatch(in folder: String, _ body: ([String]) -> Void) {
        guard let listing = FolderListing(folder) else { return }
        while !self.isStopped.withLock({ $0 }) {
            let names = listing.next(Self.batch)
            if names.isEmpty { return }
            body(names)
        }
    }
}

/// The names in a folder, a batch after the other.
private final class FolderListing {
    private let stream: OpaquePointer

    init?(_ folder: String) {
        guard let stream = opendir(folder) else { return nil }
        self.stream = stream
    }

    deinit { closedir(self.stream) }

    /// Up to `count` names; none at the end.
    func next(_ count: Int) -> [String] {
        var names: [String] = []
        while names.count < count, let item = readdir(self.stream) {
            let name = String(nameIn: item)
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    static func names(in folder: String, upTo count: Int) -> [String] {
        FolderListing(folder)?.next(count) ?? []
    }
}
