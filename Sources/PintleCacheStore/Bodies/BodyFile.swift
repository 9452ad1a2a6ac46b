// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// An open file of a body. Its descriptor stays valid when the file is removed.
final class BodyFile: Sendable {
    private let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(self.descriptor) }

    /// Makes a file, open for reading and writing. A file that a killed process has left there is overwritten.
    static func create(_ name: String, in folder: TrustedFolder) throws(UntrustedPlace) -> BodyFile {
        let file = BodyFile(try folder.open(name, O_RDWR | O_CREAT))
        // Truncated only after the check of its owner.
        guard ftruncate(file.descriptor, 0) == 0 else { throw UntrustedPlace("\(folder.path)/\(name)", .last) }
        return file
    }

    /// Opens a file for reading.
    static func open(_ name: String, in folder: TrustedFolder) throws(UntrustedPlace) -> BodyFile {
        BodyFile(try folder.open(name, O_RDONLY))
    }

    /// Appends bytes.
    func write(_ bytes: [UInt8]) throws(SystemError) {
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(SystemError) in try FileWriting.writeAll(bytes, to: self.descriptor) }
        }
        try result.get()
    }

    /// Fills the space from an offset in the file.
    ///
    /// - Returns: the number of bytes read; less than the size of the space only at the end of the file.
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

    /// The header at the beginning of the file; nil if there is no valid one.
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
