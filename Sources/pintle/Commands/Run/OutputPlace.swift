// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// Tells before a run what could not be written after it.
enum OutputPlace {
    /// The reason that no file can be put in the place of `path`; nil where one can.
    static func obstacle(to path: String) -> String? {
        var status = stat()
        if pathStat(path, &status) == 0 {
            switch status.st_mode & S_IFMT {
            case S_IFREG: break
            case S_IFDIR: return "it is a folder; name a file"
            // A device or a pipe is written to as it is.
            default: return access(path, W_OK) == 0 ? nil : "it cannot be written: \(SystemError.last)"
            }
        }
        let folder = self.folder(of: path)
        guard access(folder, W_OK | X_OK) != 0 else { return nil }
        return "nothing can be written to \(folder): \(SystemError.last)"
    }

    /// The reason that nothing can be added to the file `path`, or that it cannot be made; nil where it can.
    static func obstacle(toAddingTo path: String) -> String? {
        if access(path, F_OK) != 0 { return self.obstacle(to: path) }
        var status = stat()
        if pathStat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { return "it is a folder; name a file" }
        return access(path, W_OK) == 0 ? nil : "it cannot be written: \(SystemError.last)"
    }

    static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
