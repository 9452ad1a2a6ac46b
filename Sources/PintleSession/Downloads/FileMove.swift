// SPDX-License-Identifier: Apache-2.0

internal import CPintleLinux
internal import FoundationEssentials
internal import Glibc
internal import PintleSystem

/// Moves a whole file so that its new name never stands for half of it.
enum FileMove {
    /// - Returns: zero, or the system's error number; the file is then still where it was.
    static func move(_ path: String, to destination: String, replacing: Bool) -> Int32 {
        let code = self.rename(path, destination, replacing)
        guard code == EXDEV else { return code }
        // Another file system: a copy beside the destination first.
        let copy = "\(destination).\(String(UInt64.random(in: .min ... .max), radix: 36)).part"
        let copied = self.copy(path, to: copy)
        let moved = copied == 0 ? self.rename(copy, destination, replacing) : copied
        unlink(moved == 0 ? path : copy)
        return moved
    }

    /// The mode of a file that this process makes for others too; nil where the system does not tell. The call umask
    /// would change it for a moment, and for every thread.
    static var usualMode: mode_t? {
        let lines = FileBytes.text("/proc/self/status").split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix("Umask:") }) else { return nil }
        let digits = line.dropFirst(6).filter(\.isNumber)
        return mode_t(digits, radix: 8).map { 0o666 & ~$0 }
    }

    private static func rename(_ path: String, _ destination: String, _ replacing: Bool) -> Int32 {
        // A device, a pipe or a socket is others', who would go on with the file that took its place.
        var status = stat()
        if lstat(destination, &status) == 0, ![S_IFREG, S_IFLNK, S_IFDIR].contains(status.st_mode & S_IFMT) {
            return EEXIST
        }
        if replacing { return PintleSystem.rename(path, destination) == 0 ? 0 : errno }
        let isRenamed = path.withSystemText { path in
            destination.withSystemText { pintle_rename_new(path, $0) } == 0
        }
        guard !isRenamed else { return 0 }
        // Not every kernel and file system knows how.
        guard errno == EINVAL || errno == ENOSYS else { return errno }
        // Unlike rename, a link is never made over a file that is there.
        guard link(path, destination) == 0 else { return errno }
        unlink(path)
        return 0
    }

    /// Copies a file, down to the disk.
    private static func copy(_ path: String, to copy: String) -> Int32 {
        let source = open(path, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else { return errno }
        defer { close(source) }
        let target = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard target >= 0 else { return errno }
        defer { close(target) }
        while true {
            let count = sendfile(target, source, nil, 1 << 20)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return errno }
            if count == 0 { return fsync(target) == 0 ? 0 : errno }
        }
    }
}
