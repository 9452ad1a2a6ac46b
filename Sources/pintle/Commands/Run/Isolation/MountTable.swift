// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// The mounts that a process sees, as /proc/self/mountinfo lists them (proc_pid_mountinfo(5)).
struct MountTable: Equatable {
    struct Mount: Equatable {
        /// The number of the file system.
        let device: String
        /// The part of the file system that is mounted; `/` for all of it.
        let root: String
        let place: String
        /// The kind of the file system, such as `tmpfs`.
        let type: String
    }

    private(set) var mounts: [Mount] = []

    init(_ bytes: some Collection<UInt8>) {
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            guard words.count > 6, let dash = words.dropFirst(6).firstIndex(where: { $0.elementsEqual("-".utf8) }),
                dash + 1 < words.count
            else { continue }
            self.mounts.append(
                Mount(
                    device: Self.text(words[2]), root: Self.text(words[3]), place: Self.text(words[4]),
                    type: Self.text(words[dash + 1])))
        }
    }

    /// Returns the mount that is seen at a place; nil if nothing is mounted there.
    func mount(at place: String) -> Mount? { self.mounts.last { $0.place == place } }

    func hasMounts(below folder: String) -> Bool {
        self.mounts.contains { $0.place.hasPrefix("\(folder)/") }
    }

    /// Returns the other paths of a file whose file system, or a part of it, is mounted at several places.
    func aliases(of path: String) -> [String] {
        let holding = self.mounts.reversed().filter { Self.rest(of: path, below: $0.place) != nil }
        guard let own = holding.max(by: { $0.place.utf8.count < $1.place.utf8.count }),
            let rest = Self.rest(of: path, below: own.place)
        else { return [] }
        let inner = (own.root == "/" ? "" : own.root) + rest
        return self.mounts.filter { $0.device == own.device && $0.place != own.place }.compactMap { other in
            Self.rest(of: inner, below: other.root).map { (other.place == "/" ? "" : other.place) + $0 }
        }
    }

    /// Returns the part of a path below a folder, from its slash on; nil if it is not there.
    private static func rest(of path: String, below folder: String) -> Substring? {
        let folder = folder == "/" ? "" : folder
        guard path.utf8.starts(with: folder.utf8) else { return nil }
        let rest = path.utf8.dropFirst(folder.utf8.count)
        return rest.isEmpty || rest.first == UInt8(ascii: "/") ? Substring(rest) : nil
    }

    /// Replaces `\040` and the like, which stand for spaces, tabs, line ends and backslashes.
    private static func text(_ word: some Collection<UInt8>) -> String {
        var bytes: [UInt8] = []
        var rest = word.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            let digits = [rest.next(), rest.next(), rest.next()].compactMap { $0 }
            bytes.append(UInt8(String(decoding: digits, as: UTF8.self), radix: 8) ?? byte)
        }
        return String(systemBytes: bytes)
    }
}
