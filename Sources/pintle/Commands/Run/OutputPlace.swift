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

    /// Returns the reason why files cannot be written into the folder `path`, or why there can be no such folder; nil if they can.
    static func obstacle(toFilling path: String) -> String? {
        guard !path.isEmpty else { return "name a folder" }
        // A folder that is missing is made, with those above it.
        var place = path
        while access(place, F_OK) != 0, place != "/", place != "." { place = self.folder(of: place) }
        var status = stat()
        guard pathStat(place, &status) == 0 else { return "\(place) cannot be read: \(SystemError.last)" }
        guard status.st_mode & S_IFMT == S_IFDIR else { return "\(place) is a file; name a folder" }
        return access(place, W_OK | X_OK) == 0 ? nil : "nothing can be written to \(place): \(SystemError.last)"
    }

    static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
