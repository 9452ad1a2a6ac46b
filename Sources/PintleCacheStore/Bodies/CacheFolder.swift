// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// The places in a cache's folder.
struct CacheFolder: Sendable, Hashable {
    /// The folders over which the files of bodies are spread.
    static let spread = 256

    let path: String

    var lock: String { "\(self.path)/lock" }
    var index: String { "\(self.path)/index.sqlite" }
    /// The place of the last index that was damaged.
    var damagedIndex: String { "\(self.path)/index.sqlite.damaged" }
    var bodies: String { "\(self.path)/bodies" }

    /// The folder of all bodies that an index knows.
    func bodies(of generation: UInt64) -> String { "\(self.bodies)/\(Self.name(of: generation))" }

    /// The folder of a body; consecutive ids are in different ones.
    func folder(of body: BodyHeader) -> String {
        self.folder(Int(body.id & Int64(Self.spread - 1)), of: body.generation)
    }

    /// One of the folders of a generation.
    ///
    /// - Parameter number: 0 to 255.
    func folder(_ number: Int, of generation: UInt64) -> String {
        let name = String(number, radix: 16)
        return "\(self.bodies(of: generation))/\(number < 16 ? "0" : "")\(name)"
    }

    func file(of body: BodyHeader) -> String { "\(self.folder(of: body))/\(String(body.id, radix: 16))" }

    static func name(of generation: UInt64) -> String {
        let digits = String(generation, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Removes files of bodies. One that is not there is none to remove; one that cannot be removed is an orphan, which is
    /// looked for when the cache is opened again.
    func remove(_ ids: [Int64], of generation: UInt64) {
        for id in ids { unlink(self.file(of: BodyHeader(generation: generation, id: id))) }
    }

    /// Puts an index that is damaged under another name, so that one may look at it; an older one is given up.
    func setIndexAside() throws(SystemError) {
        // The journal first: were it left beside a new database, SQLite would apply it to that.
        for suffix in ["-wal", "-shm"] { unlink(self.damagedIndex + suffix) }
        if rename("\(self.index)-wal", "\(self.damagedIndex)-wal") != 0, errno != ENOENT { throw .last }
        if unlink("\(self.index)-shm") != 0, errno != ENOENT { throw .last }
        if rename(self.index, self.damagedIndex) != 0, errno != ENOENT { throw .last }
    }
}
