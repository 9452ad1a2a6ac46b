// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Files of /proc about other processes (proc_pid(5)).
package enum ProcessFiles {
    /// The longest content of `comm`: 15 bytes for a program, 63 for a thread of the kernel, and a line feed.
    private static let longestName = 64

    /// Returns the name of a process as ps(1) shows it, fit to be shown; nil if there is no such process.
    ///
    /// A program chooses its name itself, and may put any bytes but zeros into it (PR_SET_NAME).
    package static func name(of process: Int32) -> String? {
        guard let bytes = FileBytes.read("/proc/\(process)/comm", upTo: Self.longestName), !bytes.isEmpty else {
            return nil
        }
        let name = bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...]
        return String(systemBytes: name).showingSystemBytes.showable(keepingLines: false)
    }

    /// Calls `body` with the inode of each socket that a process has open, until it returns false. Does nothing if this user may
    /// not read the process's descriptors.
    ///
    /// - Parameter most: the most descriptors to look at.
    /// - Returns: the number of descriptors that were looked at.
    @discardableResult
    package static func forEachSocket(of process: Int32, most: Int, _ body: (_ inode: UInt64) -> Bool) -> Int {
        guard let folder = opendir("/proc/\(process)/fd") else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while count < most, let entry = readdir(folder) {
            count += 1
            if let inode = Self.inode(ofSocket: entry, in: dirfd(folder)), !body(inode) { break }
        }
        return count
    }

    /// Parses a link such as `socket:[12345]`. It is read and not followed, because stat(2) of another descriptor may wait for a
    /// file system.
    private static func inode(ofSocket entry: UnsafeMutablePointer<dirent>, in folder: Int32) -> UInt64? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 40) { space in
            let count = withUnsafeBytes(of: &entry.pointee.d_name) { name in
                guard let name = name.bindMemory(to: CChar.self).baseAddress, let start = space.baseAddress else {
                    return -1
                }
                return readlinkat(folder, name, start, space.count)
            }
            let text = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: space.prefix(max(0, count))))
            guard text.starts(with: "socket:[".utf8), text.last == UInt8(ascii: "]") else { return nil }
            return UInt64(String(decoding: text.dropFirst(8).dropLast(), as: UTF8.self))
        }
    }
}
