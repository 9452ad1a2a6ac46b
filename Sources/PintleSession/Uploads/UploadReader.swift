// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import PintleSystem

/// Reads a body piece by piece, once. It belongs to the task that reads it.
protocol UploadReader: AnyObject {
    /// Returns the next piece, never empty, or nil at the end.
    ///
    /// - Throws: ``SessionError`` with `unreadableSource`; if a stream failed, its error is `underlying`.
    func next() async throws(SessionError) -> ByteBuffer?
}

/// Reads the pieces of a sequence.
final class SequenceReader<Iterator: AsyncIteratorProtocol>: UploadReader where Iterator.Element == ByteBuffer {
    private var iterator: Iterator

    init(_ iterator: Iterator) { self.iterator = iterator }

    func next() async throws(SessionError) -> ByteBuffer? {
        do {
            while let piece = try await self.iterator.next(isolation: #isolation) {
                if piece.readableBytes > 0 { return piece }
            }
            return nil
        } catch {
            throw .wrapping(error, as: .unreadableSource, "the stream of the body failed")
        }
    }
}

/// Reads bytes in memory, for a body that is throttled.
final class BytesReader: UploadReader {
    private var bytes: ByteBuffer?

    init(_ bytes: ByteBuffer) { self.bytes = bytes.readableBytes > 0 ? bytes : nil }

    func next() async throws(SessionError) -> ByteBuffer? {
        defer { self.bytes = nil }
        return self.bytes
    }
}

/// Reads the bytes of a regular file, up to the length that it had when it was opened.
final class FileReader: UploadReader {
    let length: UInt64
    private let file: OpenFile
    private var offset: UInt64 = 0

    private static let pieceSize = 256 * 1024

    private init(file: OpenFile, length: UInt64) {
        self.file = file
        self.length = length
    }

    /// Opens the file at `path`.
    ///
    /// - Throws: ``SessionError`` with `unreadableSource`, naming the file and the system's reason.
    static func open(_ path: String) async throws(SessionError) -> FileReader {
        let opened = try await ThreadPool.shared.resultForRun { () throws(SessionError) -> (OpenFile, UInt64) in
            let descriptor = PintleSystem.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            guard descriptor >= 0 else { throw Self.unreadable(path, errno) }
            let file = OpenFile(descriptor: descriptor, path: path)
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw Self.unreadable(path, errno) }
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw SessionError(.unreadableSource, "\(path) is not a regular file; send it as a stream")
            }
            return (file, UInt64(status.st_size))
        }
        return FileReader(file: opened.0, length: opened.1)
    }

    func next() async throws(SessionError) -> ByteBuffer? {
        guard self.offset < self.length else { return nil }
        let (file, offset, wanted) = (self.file, self.offset, min(self.length - self.offset, UInt64(Self.pieceSize)))
        let piece = try await ThreadPool.shared.resultForRun { () throws(SessionError) -> ByteBuffer in
            var piece = ByteBuffer()
            let count = piece.writeWithUnsafeMutableBytes(minimumWritableBytes: Int(wanted)) { space in
                max(0, pread(file.descriptor, space.baseAddress, Int(wanted), off_t(offset)))
            }
            guard count > 0 else {
                throw SessionError(.unreadableSource, "\(file.path) became shorter, or unreadable, while it was sent")
            }
            return piece
        }
        self.offset += UInt64(piece.readableBytes)
        return piece
    }

    private static func unreadable(_ path: String, _ code: Int32) -> SessionError {
        SessionError(.unreadableSource, "\(path) cannot be read", cause: SystemError(code).description)
    }
}

/// An open descriptor, closed with its last reference.
package final class OpenFile: Sendable {
    package let descriptor: Int32
    package let path: String

    init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(self.descriptor) }
}
