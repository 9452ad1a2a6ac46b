// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Writes files and folders, and throws the system's errors.
package enum FileWriting {
    /// Writes every byte.
    package static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(SystemError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count < 0 {
                if errno == EINTR { continue }
                let error = SystemError.last
                // Another process that shares the terminal or pipe may have made it non-blocking for all.
                guard error.code == EAGAIN else { throw error }
                var place = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&place, 1, -1)
                continue
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Replaces a file so that readers find either the old bytes or the new ones, never a part. A device or a pipe is
    /// written to directly.
    ///
    /// - Parameter mode: the permissions of the file, before the umask.
    package static func replace(_ path: String, with bytes: [UInt8], mode: UInt32 = 0o644) throws(SystemError) {
        try self.replace(path, mode: mode) { descriptor throws(SystemError) in try self.writeAll(bytes, to: descriptor)
        }
    }

    /// Replaces a file like ``replace(_:with:mode:)``, with what `write` writes to a descriptor.
    package static func replace(
        _ path: String, mode: UInt32 = 0o644, by write: (Int32) throws(SystemError) -> Void
    ) throws(SystemError) {
        var status = stat()
        if pathStat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            guard status.st_mode & S_IFMT != S_IFDIR else { throw SystemError(EISDIR) }
            return try self.put(path, O_WRONLY, mode, write)
        }
        let temporary = CompanionFile.temporary.path(beside: path)
        try self.create(temporary, mode: mode, by: write)
        guard rename(temporary, path) == 0 else {
            let error = SystemError.last
            unlink(temporary)
            throw error
        }
    }

    /// Creates a file that does not exist yet. If it cannot be written whole, it is removed.
    package static func create(_ path: String, with bytes: [UInt8], mode: UInt32 = 0o644) throws(SystemError) {
        try self.create(path, mode: mode) { descriptor throws(SystemError) in try self.writeAll(bytes, to: descriptor) }
    }

    private static func create(
        _ path: String, mode: UInt32, by write: (Int32) throws(SystemError) -> Void
    ) throws(SystemError) {
        do throws(SystemError) {
            try self.put(path, O_WRONLY | O_CREAT | O_EXCL, mode, write)
        } catch {
            if error.code != EEXIST { unlink(path) }
            throw error
        }
    }

    /// Lets every user read a file, whatever the umask is.
    package static func share(_ path: String) throws(SystemError) {
        guard chmod(path, 0o644) == 0 else { throw .last }
    }

    /// Creates a folder and those above it that are missing; an existing folder stays as it is.
    package static func makeFolder(_ path: String, mode: UInt32 = 0o755) throws(SystemError) {
        if mkdir(path, mode) == 0 { return }
        switch errno {
        case EEXIST:
            var status = stat()
            guard pathStat(path, &status) == 0 else { throw .last }
            guard status.st_mode & S_IFMT == S_IFDIR else { throw SystemError(ENOTDIR) }
        case ENOENT:
            let above = path.split(separator: "/", omittingEmptySubsequences: true).dropLast().joined(separator: "/")
            guard !above.isEmpty else { throw SystemError(ENOENT) }
            try self.makeFolder(path.hasPrefix("/") ? "/\(above)" : above, mode: mode)
            guard mkdir(path, mode) == 0 || errno == EEXIST else { throw .last }
        default: throw .last
        }
    }

    /// Removes a file, or a folder with everything in it, as far as possible.
    package static func remove(_ path: String) {
        // Only a folder has this error, so targets of symbolic links are not touched.
        guard unlink(path) != 0, errno == EISDIR, let folder = opendir(path) else { return }
        var names: [String] = []
        while let entry = readdir(folder) { names.append(String(nameIn: entry)) }
        closedir(folder)
        for name in names where name != "." && name != ".." { self.remove("\(path)/\(name)") }
        rmdir(path)
    }

    /// Writes every byte.
    package static func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws(SystemError) {
        try bytes.withUnsafeBufferPointer { bytes throws(SystemError) in
            try self.writeAll(UnsafeRawBufferPointer(bytes), to: descriptor)
        }
    }

    private static func put(
        _ path: String, _ flags: Int32, _ mode: UInt32, _ write: (Int32) throws(SystemError) -> Void
    ) throws(SystemError) {
        let descriptor = open(path, flags | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw .last }
        let written = Result { () throws(SystemError) in try write(descriptor) }
        // A file server may report a lack of space only at this point.
        let isClosed = close(descriptor) == 0 ? nil : SystemError.last
        try written.get()
        if let isClosed { throw isClosed }
    }
}
