// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// An open file of a body. Its descriptor stays good when the file is removed.
final class BodyFile: Sendable {
    private let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(self.descriptor) }

    /// Makes a file, with the folders above it that are missing. What a process that was killed has left in its place is
    /// overwritten. It can be read, too.
    static func create(_ path: String, in folder: String) throws(SystemError) -> BodyFile {
        let flags = O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW
        var descriptor = DescriptorReserve.admitted(PintleSystem.open(path, flags, 0o600))
        if descriptor < 0, errno == ENOENT {
            try FileWriting.makeFolder(folder, mode: 0o700)
            descriptor = DescriptorReserve.admitted(PintleSystem.open(path, flags, 0o600))
        }
        guard descriptor >= 0 else { throw .last }
        return BodyFile(descriptor)
    }

    /// Opens a file for reading.
    static func open(_ path: String) throws(SystemError) -> BodyFile {
        let descriptor = DescriptorReserve.admitted(
            PintleSystem.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK))
        guard descriptor >= 0 else { throw .last }
        return BodyFile(descriptor)
    }

    /// Appends bytes.
    func write(_ bytes: [UInt8]) throws(SystemError) {
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(SystemError) in try FileWriting.writeAll(bytes, to: self.descriptor) }
        }
        try result.get()
    }

    /// Fills the space from a place in the file.
    ///
    /// - Returns: how many bytes there were; fewer than there is space for at the end of the file.
    func read(at offset: UInt64, into space: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        var filled = 0
        while filled < space.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: space[filled...])
            let count = pread(self.descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(filled))
            if count == 0 { break }
            if count < 0 {
                if errno == EINTR { continue }
                throw .last
            }
            filled += count
        }
        return filled
    }

    /// The header at the beginning of the file; nil where there is none that was written so.
    func header() throws(SystemError) -> BodyHeader? {
        var failure: SystemError?
        let header = withUnsafeTemporaryAllocation(byteCount: BodyHeader.byteCount, alignment: 8) { space in
            do throws(SystemError) {
                let count = try self.read(at: 0, into: space)
                return BodyHeader(decoding: UnsafeRawBufferPointer(rebasing: space[..<count]))
            } catch {
                failure = error
                return nil
            }
        }
        if let failure { throw failure }
        return header
    }
}
