// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// Finds out before a run if its output files can be written.
enum OutputPlace {
    /// Returns the reason why `path` cannot be written or replaced; nil if it can.
    static func obstacle(to path: String) -> String? {
        var status = stat()
        if pathStat(path, &status) == 0 {
            switch status.st_mode & S_IFMT {
            case S_IFREG: break
            case S_IFDIR: return "it is a folder; name a file"
            // A device or a pipe is written to directly.
            default: return access(path, W_OK) == 0 ? nil : "it cannot be written: \(SystemError.last)"
            }
        }
        let folder = self.folder(of: path)
        guard access(folder, W_OK | X_OK) != 0 else { return nil }
        return "nothing can be written to \(folder): \(SystemError.last)"
    }

    /// Returns the reason why the file `path` cannot be extended or created; nil if it can.
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
