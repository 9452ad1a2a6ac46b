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
}
