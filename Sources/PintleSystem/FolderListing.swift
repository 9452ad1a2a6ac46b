// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Lists a folder of the kernel, such as /proc/self/fd. Foundation's function would also query the type of each file.
package enum FolderListing {
    /// - Returns: the names; none if the folder cannot be read.
    package static func names(in path: String, most: Int) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        let own = "\(dirfd(folder))"
        var names: [String] = []
        while names.count < most, let entry = readdir(folder) {
            let name = String(nameIn: entry)
            let isOwn = path == "/proc/self/fd" && name == own
            if name != ".", name != "..", !isOwn { names.append(name) }
        }
        return names
    }

    /// The kind of a file.
    package enum Kind: Sendable {
        case file, folder, link, socket, other
    }

    /// Lists a folder with the kinds of its files.
    ///
    /// - Returns: none if the folder cannot be read.
    package static func entries(in path: String) -> [(name: String, kind: Kind)] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var entries: [(String, Kind)] = []
        while let entry = readdir(folder) {
            let name = String(nameIn: entry)
            guard name != ".", name != ".." else { continue }
            var mode = mode_t(entry.pointee.d_type) << 12
            if mode == 0 {
                // Some file systems do not tell.
                var status = stat()
                guard fstatat(dirfd(folder), name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
                mode = status.st_mode
            }
            entries.append((name, Kind(mode)))
        }
        return entries
    }
}

extension FolderListing.Kind {
    fileprivate init(_ mode: mode_t) {
        switch mode & S_IFMT {
        case S_IFREG: self = .file
        case S_IFDIR: self = .folder
        case S_IFLNK: self = .link
        case S_IFSOCK: self = .socket
        default: self = .other
        }
    }
}
