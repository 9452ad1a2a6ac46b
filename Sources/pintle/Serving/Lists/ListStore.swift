// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleActivity
internal import PintleMessage
internal import PintlePolicy
internal import PintleSystem
internal import PintleTrust

/// The folder of the last good texts of lists that other machines keep, a file for each URL.
struct ListStore: Sendable {
    /// The path of the folder, which may not exist; nil if the environment names none.
    let path: String?

    /// The store of this user.
    static var ofUser: ListStore { ListStore(path: UserFile.lists.path) }

    private static func name(_ url: HTTPURL) -> String {
        RunningDigest.sha256(Array(url.description.utf8)).hexadecimal
    }

    /// Reads a copy; nil if there is none, or one that is damaged or that another user could have made.
    func read(_ url: HTTPURL) -> ListCopy? {
        guard let path, let folder = try? TrustedFolder(path),
            let descriptor = try? folder.open(Self.name(url), O_RDONLY)
        else { return nil }
        defer { close(descriptor) }
        guard let bytes = Self.bytes(descriptor), let copy = ListCopy(stored: bytes), copy.url == url.description else {
            return nil
        }
        return copy
    }

    private static func bytes(_ descriptor: Int32) -> [UInt8]? {
        var bytes: [UInt8] = []
        while true {
            var count = 0
            bytes += [UInt8](unsafeUninitializedCapacity: 256 << 10) { space, filled in
                repeat {
                    count = Glibc.read(descriptor, space.baseAddress, space.count)
                } while count < 0 && errno == EINTR
                filled = max(0, count)
            }
            guard count >= 0, bytes.count <= HostListText.byteLimit + ListCopy.mostHeadBytes else { return nil }
            if count == 0 { return bytes }
        }
    }

    /// Keeps a copy in the place of an earlier one of its URL.
    ///
    /// - Throws: the reason.
    func write(_ copy: ListCopy, of url: HTTPURL) throws(ListFailure) {
        guard let path else { throw ListFailure("neither XDG_STATE_HOME nor HOME says where") }
        let name = Self.name(url)
        let temporary = CompanionFile.temporary.path(beside: name)
        do {
            let folder = try TrustedFolder(path, making: 0o700)
            let descriptor = try folder.open(temporary, O_WRONLY | O_CREAT | O_EXCL)
            let written = Result { () throws(SystemError) in try FileWriting.writeAll(copy.stored, to: descriptor) }
            // A file server may report a lack of space only at this point.
            let isClosed = close(descriptor) == 0 ? nil : SystemError.last
            do {
                try written.get()
                if let isClosed { throw isClosed }
                try folder.rename(temporary, to: name)
            } catch {
                folder.remove(temporary)
                throw error
            }
        } catch {
            throw ListFailure("\(error)")
        }
    }
}

/// The reason why there is no text of a list, or no copy of it.
struct ListFailure: Error, Equatable {
    /// A clause without a full stop.
    let reason: String

    init(_ reason: String) { self.reason = reason }
}
