// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// The files of a cache. All are opened relative to the cache's folder, which is trusted.
struct CacheFolder: Sendable {
    /// The number of folders over which the files of bodies are distributed.
    static let spread = 256

    private let root: TrustedFolder

    /// Opens a folder; creates it if it is missing.
    ///
    /// - Throws: `unusable` if another user could change its content; also errors of the system.
    init(_ path: String) throws(DiskCacheError) {
        do throws(UntrustedPlace) {
            self.root = try TrustedFolder(path, making: 0o700)
        } catch {
            throw DiskCacheError(error, path, "made")
        }
    }

    var path: String { self.root.path }
    var lock: String { "\(self.path)/\(Self.lock)" }
    var index: String { "\(self.path)/\(Self.index)" }
    /// The path of the last damaged index.
    var damagedIndex: String { "\(self.path)/\(Self.damagedIndex)" }

    private static let lock = "lock"
    private static let index = "index.sqlite"
    private static let damagedIndex = "index.sqlite.damaged"
    /// The files that SQLite creates next to an index.
    private static let journals =
        [CompanionFile.changes, .changeIndex].map { $0.path(beside: Self.index) } + ["\(Self.index)-journal"]

    // MARK: The lock and the index

    /// Opens the lock file for reading and writing.
    func openLock() throws(DiskCacheError) -> Int32 {
        do throws(UntrustedPlace) {
            return try self.root.open(Self.lock, O_RDWR | O_CREAT)
        } catch {
            throw DiskCacheError(error, self.lock, "opened")
        }
    }

    /// Opens the index, or creates one that other users cannot read.
    func openIndex(idsAbove id: Int64) throws(DiskCacheError) -> CacheIndex {
        do throws(UntrustedPlace) {
            let descriptor = try self.root.open(Self.index, O_RDWR | O_CREAT)
            // SQLite gives its journals the mode of the index. An earlier version left the mode to the umask.
            fchmod(descriptor, 0o600)
            close(descriptor)
            for journal in Self.journals { try self.root.check(journal) }
        } catch {
            throw DiskCacheError(error, self.index, "opened")
        }
        return try CacheIndex(self.index, idsAbove: id)
    }

    /// Renames a damaged index, so that it can be examined; an older damaged one is removed.
    func setIndexAside() throws(SystemError) {
        // The journal comes first: if it stayed next to a new database, SQLite would apply it to that.
        let (changes, changeIndex) = (CompanionFile.changes, CompanionFile.changeIndex)
        for journal in [changes, changeIndex] { self.root.remove(journal.path(beside: Self.damagedIndex)) }
        try self.root.rename(changes.path(beside: Self.index), to: changes.path(beside: Self.damagedIndex))
        if let error = self.root.remove(changeIndex.path(beside: Self.index)) { throw error }
        try self.root.rename(Self.index, to: Self.damagedIndex)
    }

    // MARK: Bodies

    /// The folder of all bodies.
    func bodies(making mode: UInt32? = nil) throws(UntrustedPlace) -> TrustedFolder {
        try self.root.folder("bodies", making: mode)
    }

    /// The folder of all bodies of one index.
    func bodies(of generation: UInt64, making mode: UInt32? = nil) throws(UntrustedPlace) -> TrustedFolder {
        try self.bodies(making: mode).folder(Self.name(of: generation), making: mode)
    }

    /// The path of a body, for messages.
    func file(of body: BodyHeader) -> String {
        "\(self.path)/bodies/\(Self.name(of: body.generation))/\(Self.folder(of: body.id))/\(Self.name(of: body.id))"
    }

    /// Creates the file of a body, with the missing folders above it.
    func create(_ body: BodyHeader) throws(UntrustedPlace) -> BodyFile {
        let folder = try self.bodies(of: body.generation, making: 0o700)
            .folder(Self.folder(of: body.id), making: 0o700)
        return try BodyFile.create(Self.name(of: body.id), in: folder)
    }

    /// Opens the file of a body for reading.
    func open(_ body: BodyHeader) throws(UntrustedPlace) -> BodyFile {
        let folder = try self.bodies(of: body.generation).folder(Self.folder(of: body.id))
        return try BodyFile.open(Self.name(of: body.id), in: folder)
    }

    /// Removes files of bodies. Missing files are ignored. A file that cannot be removed becomes an orphan, which the sweep
    /// after the next opening removes.
    func remove(_ ids: [Int64], of generation: UInt64) {
        // A folder that cannot be opened keeps its files as orphans.
        guard !ids.isEmpty, let bodies = try? self.bodies(of: generation) else { return }
        for id in ids { (try? bodies.folder(Self.folder(of: id)))?.remove(Self.name(of: id)) }
    }

    // MARK: Names

    /// The name of one of the folders of a generation.
    ///
    /// - Parameter number: 0 to 255.
    static func folder(_ number: Int) -> String {
        let name = String(number, radix: 16)
        return number < 16 ? "0\(name)" : name
    }

    /// The name of the folder of a body; consecutive ids are in different folders.
    private static func folder(of id: Int64) -> String { self.folder(Int(id & Int64(self.spread - 1))) }

    static func name(of id: Int64) -> String { String(id, radix: 16) }

    static func name(of generation: UInt64) -> String {
        let digits = String(generation, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
