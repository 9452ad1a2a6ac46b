// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Walks to a folder step by step, each step relative to a descriptor of the previous folder. Every folder and link on the
/// way is checked, and cannot be exchanged after its check.
final class FolderWay {
    /// The last folder reached, opened only so that calls can name it.
    private(set) var descriptor: Int32 = -1
    private var place = ""
    /// The names that remain, the next one last.
    private var left: [String]
    private var links = 0
    /// The kernel's own limit.
    private static let mostLinks = 40
    /// O_PATH, which Glibc's module lacks: a folder on the way need not be readable.
    private static let onlyPlace: Int32 = 0o10_000_000

    /// - Parameters:
    ///   - path: the path of the folder; a relative one starts in the working directory.
    ///   - mode: the permissions of missing folders that are created; nil creates none.
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
