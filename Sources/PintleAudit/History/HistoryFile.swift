// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import PintleSystem
internal import PintleTrust

/// The database file of a history, with the files that SQLite and this module put beside it.
struct HistoryFile {
    let path: String

    init(_ path: String) { self.path = path }

    var exists: Bool { access(self.path, F_OK) == 0 }

    /// Creates the folders above the file; only their owner may enter them.
    func makeFolder() throws(HistoryError) {
        let folder = URL(fileURLWithPath: self.path).deletingLastPathComponent().path
        do throws(SystemError) {
            try FileWriting.makeFolder(folder, mode: 0o700)
        } catch {
            throw HistoryError("\(self.path): its folder cannot be made: \(error)")
        }
    }

    /// Runs `body` while no other process runs one for the same file.
    func withLock<Result>(_ body: () throws -> Result) throws -> Result {
        let lock = CompanionFile.lock.path(beside: self.path)
        let descriptor = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw HistoryError("\(lock) cannot be opened: \(SystemError.last)") }
        // Closing the file releases the lock.
        defer { close(descriptor) }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw HistoryError("\(lock) cannot be locked: \(SystemError.last)") }
        }
        return try body()
    }

    /// Renames the database and its journals, so that a repair can still use everything in them.
    ///
    /// - Returns: the new name, `NAME.damaged-20261122T040000Z`; with a number at the end if that name is taken.
    func setAside(at moment: UnixTime) throws(HistoryError) -> String {
        let stamp = moment.description.filter { $0 != "-" && $0 != ":" }
        let damaged = CompanionFile.damaged.path(beside: self.path, time: stamp)
        var place = damaged
        var number = 1
        while access(place, F_OK) == 0 {
            number += 1
            place = "\(damaged)-\(number)"
        }
        for journal in [CompanionFile.changes, .changeIndex] {
            let path = journal.path(beside: self.path)
            if access(path, F_OK) == 0 { rename(path, journal.path(beside: place)) }
        }
        guard rename(self.path, place) == 0 else {
            throw HistoryError("\(self.path) is damaged and cannot be renamed: \(SystemError.last)")
        }
        return place
    }

    /// Returns the absolute path of a configuration, so that files of the same name in different folders stay apart.
    static func absolute(_ path: String) -> String {
        path.hasPrefix("/") || path == "embedded default" ? path : URL(fileURLWithPath: path).standardized.path
    }
}
