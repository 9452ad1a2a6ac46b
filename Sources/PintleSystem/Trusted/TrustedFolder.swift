// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// An open folder in which only this user and root may change anything.
///
/// Its files are accessed through its descriptor, and links among them are not followed, so a later change on the path to
/// the folder has no effect. Links on that path, or in the folder's place, are followed if this user or root made them.
package final class TrustedFolder: Sendable {
    package let path: String
    /// The mode bits of the folder, as for chmod(2), at the time when it was opened.
    package let permissions: UInt32
    private let descriptor: Int32

    private init(_ path: String, _ descriptor: Int32) throws(UntrustedPlace) {
        guard descriptor >= 0 else { throw UntrustedPlace(path, .last) }
        var status = stat()
        do throws(UntrustedPlace) {
            guard fstat(descriptor, &status) == 0 else { throw UntrustedPlace(path, .last) }
            try FileTrust.check(status, path)
        } catch {
            close(descriptor)
            throw error
        }
        (self.path, self.permissions, self.descriptor) = (path, status.st_mode & 0o7777, descriptor)
    }

    deinit { close(self.descriptor) }

    /// Opens a folder.
    ///
    /// - Parameter mode: the permissions of missing folders that are created, before the umask; nil creates none.
    package convenience init(_ path: String, making mode: UInt32? = nil) throws(UntrustedPlace) {
        let way = try FolderWay(to: path, making: mode)
        try self.init(path, openat(way.descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    }

    /// Opens a folder inside this one.
    ///
    /// - Parameters:
    ///   - name: a single path component.
    ///   - mode: the permissions of the folder if it is missing and must be created; nil does not create it.
    package func folder(_ name: String, making mode: UInt32? = nil) throws(UntrustedPlace) -> TrustedFolder {
        if let mode, mkdirat(self.descriptor, name, mode) != 0, errno != EEXIST {
            throw UntrustedPlace(self.place(of: name), .last)
        }
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW
        let descriptor = DescriptorReserve.admitted(openat(self.descriptor, name, flags))
        guard descriptor >= 0 else {
            let error = SystemError.last
            throw self.isLink(name) ? .isLink(self.place(of: name)) : UntrustedPlace(self.place(of: name), error)
        }
        return try TrustedFolder(self.place(of: name), descriptor)
    }

    /// Opens a file of the folder; the caller must close it.
    ///
    /// - Parameters:
    ///   - flags: the flags of open(2).
    ///   - mode: the permissions of a file that is created, before the umask.
    package func open(_ name: String, _ flags: Int32, mode: UInt32 = 0o600) throws(UntrustedPlace) -> Int32 {
        let descriptor = DescriptorReserve.admitted(
            openat(self.descriptor, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, mode))
        guard descriptor >= 0 else {
            if errno == ELOOP { throw .isLink(self.place(of: name)) }
            throw UntrustedPlace(self.place(of: name), .last)
        }
        do throws(UntrustedPlace) {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw UntrustedPlace(self.place(of: name), .last) }
            try self.check(status, name)
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Checks a file that another library opens by its path.
    ///
    /// - Returns: the mode bits of the file; nil if there is none.
    @discardableResult
    package func check(_ name: String) throws(UntrustedPlace) -> UInt32? {
        var status = stat()
        guard fstatat(self.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            if errno == ENOENT { return nil }
            throw UntrustedPlace(self.place(of: name), .last)
        }
        try self.check(status, name)
        return status.st_mode & 0o7777
    }

    private func check(_ status: stat, _ name: String) throws(UntrustedPlace) {
        switch status.st_mode & S_IFMT {
        case S_IFREG: try FileTrust.check(status, self.place(of: name))
        case S_IFLNK: throw .isLink(self.place(of: name))
        default: throw .isNoFile(self.place(of: name))
        }
    }

    /// Removes a file; if the name is a link, the link itself.
    ///
    /// - Returns: an error; nil if the file is gone or was not there.
    @discardableResult
    package func remove(_ name: String) -> SystemError? { self.unlink(name, 0) }

    /// Removes an empty folder.
    @discardableResult
    package func removeFolder(_ name: String) -> SystemError? { self.unlink(name, AT_REMOVEDIR) }

    private func unlink(_ name: String, _ flags: Int32) -> SystemError? {
        unlinkat(self.descriptor, name, flags) == 0 || errno == ENOENT ? nil : .last
    }

    /// Renames a file and replaces one of the new name; does nothing if there is no such file.
    package func rename(_ name: String, to other: String) throws(SystemError) {
        if renameat(self.descriptor, name, self.descriptor, other) != 0, errno != ENOENT { throw .last }
    }

    /// Returns the names in the folder.
    package func names() throws(SystemError) -> FolderNames {
        guard let names = FolderNames(openat(self.descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) else {
            throw .last
        }
        return names
    }

    private func isLink(_ name: String) -> Bool {
        var status = stat()
        return fstatat(self.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    private func place(of name: String) -> String {
        self.path.hasSuffix("/") ? self.path + name : "\(self.path)/\(name)"
    }
}

/// The names in a folder, read in batches. Used by one thread at a time.
package final class FolderNames {
    private let stream: OpaquePointer

    /// Takes ownership of a descriptor; nil with `errno` if the system refuses it.
    init?(_ descriptor: Int32) {
        guard descriptor >= 0 else { return nil }
        guard let stream = fdopendir(descriptor) else {
            close(descriptor)
            return nil
        }
        self.stream = stream
    }

    deinit { closedir(self.stream) }

    /// Returns up to `count` names; none at the end.
    package func next(_ count: Int) -> [String] {
        var names: [String] = []
        while names.count < count, let item = readdir(self.stream) {
            let name = String(nameIn: item)
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
