// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// The names in a folder of the kernel's, such as /proc/self/fd. Foundation's listing asks for each file's kind as well.
enum FolderListing {
    /// - Returns: nothing where the folder cannot be read.
    static func names(in path: String, most: Int) -> [String] {
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
