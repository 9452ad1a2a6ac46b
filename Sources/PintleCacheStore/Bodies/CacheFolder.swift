// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// The places in a cache's folder, all of which are reached from the folder itself: what is there is trusted.
struct CacheFolder: Sendable {
    /// The folders over which the files of bodies are spread.
    static let spread = 256

    private let root: TrustedFolder

    /// Opens a folder, which is made if it is missing.
    ///
    /// - Throws: `unusable` if another user could change what is there, and what the system says.
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
    /// The place of the last index that was damaged.
    var damagedIndex: String { "\(self.path)/\(Self.damagedIndex)" }

    private static let lock = "lock"
    private static let index = "index.sqlite"
    private static let damagedIndex = "index.sqlite.damaged"
    /// The files that SQLite puts beside an index.
    private static let journals = ["-wal", "-shm", "-journal"]

    // MARK: The lock and the index

    /// Opens the file that is locked, for reading and writing.
    func openLock() throws(DiskCacheError) -> Int32 {
        do throws(UntrustedPlace) {
            return try self.root.open(Self.lock, O_RDWR | O_CREAT)
        } catch {
            throw DiskCacheError(error, self.lock, "opened")
        }
    }

    /// Opens the index, or makes one that nobody else can read.
    func openIndex(idsAbove id: Int64) throws(DiskCacheError) -> CacheIndex {
        do throws(UntrustedPlace) {
            let descriptor = try self.root.open(Self.index, O_RDWR | O_CREAT)
            // SQLite gives its journals the mode of the index. An earlier version left the mode to the umask.
            fchmod(descriptor, 0o600)
            close(descriptor)
            for suffix in Self.journals { try self.root.check(Self.index + suffix) }
        } catch {
            throw DiskCacheError(error, self.index, "opened")
        }
        return try CacheIndex(self.index, idsAbove: id)
    }

    /// Puts an index that is damaged under another name, so that one may look at it; an older one is given up.
    func setIndexAside() throws(SystemError) {
        // The journal first: were it left beside a new database, SQLite would apply it to that.
        for suffix in ["-wal", "-shm"] { self.root.remove(Self.damagedIndex + suffix) }
        try self.root.rename("\(Self.index)-wal", to: "\(Self.damagedIndex)-wal")
        if let error = self.root.remove("\(Self.index)-shm") { throw error }
        try self.root.rename(Self.index, to: Self.damagedIndex)
    }

    // MARK: Bodies

    /// The folder of all bodies.
    func bodies(making mode: UInt32? = nil) throws(UntrustedPlace) -> TrustedFolder {
        try self.root.folder("bodies", making: mode)
    }

    /// The folder of all bodies that an index knows.
    func bodies(of generation: UInt64, making mode: UInt32? = nil) throws(UntrustedPlace) -> TrustedFolder {
        try self.bodies(making: mode).folder(Self.name(of: generation), making: mode)
    }

    /// The path of a body, for messages.
    func file(of body: BodyHeader) -> String {
        "\(self.path)/bodies/\(Self.name(of: body.generation))/\(Self.folder(of: body.id))/\(Self.name(of: body.id))"
    }

    /// Makes the file of a body, with the folders above it that are missing.
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

    /// Removes files of bodies. One that is not there is none to remove; one that cannot be removed is an orphan, which is
    /// looked for when the cache is opened again.
    func remove(_ ids: [Int64], of generation: UInt64) {
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

    /// The name of the folder of a body; consecutive ids are in different ones.
    private static func folder(of id: Int64) -> String { self.folder(Int(id & Int64(self.spread - 1))) }

    static func name(of id: Int64) -> String { String(id, radix: 16) }

    static func name(of generation: UInt64) -> String {
        let digits = String(generation, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
