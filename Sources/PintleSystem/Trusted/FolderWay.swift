// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The way to a folder, gone one step after the other, each from the folder before: every folder and link on it is judged, and
/// stays the one that was.
final class FolderWay {
    /// The last folder, only to be named in calls.
    private(set) var descriptor: Int32 = -1
    private var place = ""
    /// The names that are still to come, the next one last.
    private var left: [String]
    private var links = 0
    /// As many as the kernel follows.
    private static let mostLinks = 40
    /// O_PATH, which Glibc's module leaves out: a folder on the way need not be readable.
    private static let onlyPlace: Int32 = 0o10_000_000

    /// - Parameters:
    ///   - path: of the folder; a relative one begins where the process is.
    ///   - mode: of folders that are made; nil makes none.
    init(to path: String, making mode: UInt32?) throws(UntrustedPlace) {
        self.left = Self.names(path)
        if !path.hasPrefix("/") {
            guard let start = getcwd() else { throw UntrustedPlace(path, .last) }
            self.left += Self.names(start)
        }
        try self.enter("/", from: AT_FDCWD, as: "")
        while let name = self.left.popLast() { try self.step(to: name, making: mode) }
    }

    deinit { if self.descriptor >= 0 { close(self.descriptor) } }

    private static func names(_ path: String) -> [String] { path.split(separator: "/").reversed().map(String.init) }

    private func step(to name: String, making mode: UInt32?) throws(UntrustedPlace) {
        var status = stat()
        guard fstat(self.descriptor, &status) == 0 else { throw UntrustedPlace(self.place, .last) }
        try FileTrust.checkWay(status, self.place.isEmpty ? "/" : self.place)
        let next = "\(self.place)/\(name)"
        if fstatat(self.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) != 0 {
            guard errno == ENOENT, let mode else { throw UntrustedPlace(next, .last) }
            guard mkdirat(self.descriptor, name, mode) == 0 || errno == EEXIST else {
                throw UntrustedPlace(next, .last)
            }
            guard fstatat(self.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
                throw UntrustedPlace(next, .last)
            }
        }
        guard status.st_mode & S_IFMT == S_IFLNK else { return try self.enter(name, from: self.descriptor, as: next) }
        guard FileTrust.isTrusted(status.st_uid) else { throw .linkOfOther(next, status.st_uid) }
        self.links += 1
        guard self.links <= Self.mostLinks else { throw UntrustedPlace(next, SystemError(ELOOP)) }
        guard let target = readlink(name, in: self.descriptor) else { throw UntrustedPlace(next, .last) }
        self.left += Self.names(target)
        if target.hasPrefix("/") { try self.enter("/", from: AT_FDCWD, as: "") }
    }

    private func enter(_ name: String, from folder: Int32, as place: String) throws(UntrustedPlace) {
        let next = openat(folder, name, Self.onlyPlace | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard next >= 0 else { throw UntrustedPlace(place, .last) }
        if self.descriptor >= 0 { close(self.descriptor) }
        (self.descriptor, self.place) = (next, place)
    }
}
