// SPDX-License-Identifier: Apache-2.0

internal import CPintleLinux
internal import FoundationEssentials
internal import Glibc
internal import PintleSystem

/// Moves a complete file so that its new name never stands for an incomplete one.
enum FileMove {
    /// Moves the file.
    ///
    /// - Returns: zero, or the system's error number; the file is then still in its old place.
    static func move(_ path: String, to destination: String, replacing: Bool) -> Int32 {
        let code = self.rename(path, destination, replacing)
        guard code == EXDEV else { return code }
        // On another file system, the file is copied first, into the destination's folder.
        let number = String(UInt64.random(in: .min ... .max), radix: 36)
        let copy = CompanionFile.part.path(beside: "\(destination).\(number)")
        let copied = self.copy(path, to: copy)
        let moved = copied == 0 ? self.rename(copy, destination, replacing) : copied
        unlink(moved == 0 ? path : copy)
        return moved
    }

    /// The usual mode of new files of this process, by its umask; nil if unknown. Reading it by the call umask would
    /// change it for a moment, for every thread.
    static var usualMode: mode_t? {
        let lines = FileBytes.text("/proc/self/status").split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix("Umask:") }) else { return nil }
        let digits = line.dropFirst(6).filter(\.isNumber)
        return mode_t(digits, radix: 8).map { 0o666 & ~$0 }
    }

    private static func rename(_ path: String, _ destination: String, _ replacing: Bool) -> Int32 {
        // A device, a pipe or a socket must stay: its users would continue with the file that replaced it.
        var status = stat()
        if lstat(destination, &status) == 0, ![S_IFREG, S_IFLNK, S_IFDIR].contains(status.st_mode & S_IFMT) {
            return EEXIST
        }
        if replacing { return PintleSystem.rename(path, destination) == 0 ? 0 : errno }
        let isRenamed = path.withSystemText { path in
            destination.withSystemText { pintle_rename_new(path, $0) } == 0
        }
        guard !isRenamed else { return 0 }
        // Not every kernel and file system supports this.
        guard errno == EINVAL || errno == ENOSYS else { return errno }
        // Unlike rename, link never replaces an existing file.
        guard link(path, destination) == 0 else { return errno }
        unlink(path)
        return 0
    }

    /// Copies a file and syncs the copy to the disk.
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
