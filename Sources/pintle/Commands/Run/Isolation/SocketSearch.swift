// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// Finds Unix sockets with a path: those that processes of this network have bound, those that the environment names, those that
/// are mounted, others in the same folders, and all of them at other places of their file systems.
///
/// The kernel keeps the path that was bound. A socket may have been given another name in the same folder since, as those that
/// ssh(1) shares, and sockets of other networks, such as those of containers, are not in its list.
struct SocketSearch {
    /// The paths of bound sockets.
    let bound: [String]
    let environment: [String: String]
    let mounts: MountTable

    /// The sockets, with absolute paths without symbolic links. Those that this user cannot look up are left out.
    var sockets: [String] {
        let mounted = self.mounts.mounts.filter { $0.root != "/" }.map(\.place)
        let named = self.environment.values.compactMap(Self.path)
        let known = (self.bound + mounted + named).compactMap(Self.resolved).filter(Self.isSocket)
        var folders = Set(known.map { Array(Self.folder(of: $0).systemBytes) })
        folders.insert(Array("/tmp".utf8))
        let found = folders.flatMap { folder -> [String] in
            let folder = String(systemBytes: folder)
            return FolderListing.entries(in: folder).filter { $0.kind == .socket }.map { "\(folder)/\($0.name)" }
        }
        let aliases = (known + found).flatMap(self.mounts.aliases).filter(Self.isSocket)
        return Set((known + found + aliases).map(\.systemBytes)).map { String(systemBytes: $0) }.sorted()
    }

    /// Reads the lines of /proc/net/unix (proc_pid_net(5)): `Num: RefCount Protocol Flags Type St Inode Path`.
    ///
    /// - Returns: the paths that are absolute. Abstract names belong to a network, and a path from a folder that only its
    ///   process knows cannot be resolved.
    static func paths(in table: some Collection<UInt8>) -> [String] {
        table.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let words = line.split(separator: UInt8(ascii: " "), maxSplits: 7)
            guard words.count == 8, words[7].first == UInt8(ascii: "/") else { return nil }
            return String(systemBytes: words[7])
        }
    }

    /// Returns the path in a variable's value, as in `/run/ssh`, `unix:///run/docker.sock` and
    /// `unix:path=/run/user/1000/bus,guid=…`; nil if there is none.
    static func path(in value: String) -> String? {
        guard let start = value.firstIndex(of: "/") else { return nil }
        return String(value[start...].prefix { $0 != "," && $0 != ";" })
    }

    /// Returns a path whose folders are no symbolic links; nil if they cannot be looked up.
    private static func resolved(_ path: String) -> String? {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        guard let folder = realpath(Self.folder(of: path)), !name.isEmpty else { return nil }
        return folder == "/" ? "/\(name)" : "\(folder)/\(name)"
    }

    static func folder(of path: String) -> String {
        let folder = path.split(separator: "/").dropLast().joined(separator: "/")
        return "/\(folder)"
    }

    static func isSocket(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }
}
