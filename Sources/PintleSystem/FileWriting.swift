// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Writing files and folders, with the system's reason where that fails.
package enum FileWriting {
    /// Writes every byte.
    package static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(SystemError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count < 0 {
                if errno == EINTR { continue }
                let error = SystemError.last
                // Whoever shares a terminal or a pipe may have made it non-blocking for all.
                guard error.code == EAGAIN else { throw error }
                var place = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&place, 1, -1)
                continue
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Puts a file with these bytes in the place of `path`: whoever reads it finds the old ones or the new ones, never a
    /// part. A device or a pipe is written to as it is.
    ///
    /// - Parameter mode: of the file, narrowed by the umask.
    package static func replace(_ path: String, with bytes: [UInt8], mode: UInt32 = 0o644) throws(SystemError) {
        var status = stat()
        if pathStat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            guard status.st_mode & S_IFMT != S_IFDIR else { throw SystemError(EISDIR) }
            return try self.write(bytes, path, O_WRONLY, mode)
        }
        let temporary = "\(path).\(getpid())-\(UInt32.random(in: .min ... .max)).tmp"
        try self.create(temporary, with: bytes, mode: mode)
        guard rename(temporary, path) == 0 else {
            let error = SystemError.last
            unlink(temporary)
            throw error
        }
    }

    /// Makes a file that is not there yet. What could not be written whole is taken away again.
    package static func create(_ path: String, with bytes: [UInt8], mode: UInt32 = 0o644) throws(SystemError) {
        do throws(SystemError) {
            try self.write(bytes, path, O_WRONLY | O_CREAT | O_EXCL, mode)
        } catch {
            if error.code != EEXIST { unlink(path) }
            throw error
        }
    }

    /// Makes a folder with those above it that are missing; one that is there already is left as it is.
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

    /// Takes a folder away with everything in it, or a file. What cannot be removed stays.
    package static func remove(_ path: String) {
        // Only a folder has this error. What a symbolic link leads to is left alone.
        guard unlink(path) != 0, errno == EISDIR, let folder = opendir(path) else { return }
        var names: [String] = []
        while let entry = readdir(folder) { names.append(String(nameIn: entry)) }
        closedir(folder)
        for name in names where name != "." && name != ".." { self.remove("\(path)/\(name)") }
        rmdir(path)
    }

    private static func write(
        _ bytes: [UInt8], _ path: String, _ flags: Int32, _ mode: UInt32
    ) throws(SystemError) {
        let descriptor = open(path, flags | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw .last }
        let written = bytes.withUnsafeBytes { bytes in
            Result { () throws(SystemError) in try self.writeAll(bytes, to: descriptor) }
        }
        // A file server may tell only now that it has no space.
        let isClosed = close(descriptor) == 0 ? nil : SystemError.last
        try written.get()
        if let isClosed { throw isClosed }
    }
}
