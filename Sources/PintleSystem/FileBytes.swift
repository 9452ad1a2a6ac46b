// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Reads whole files.
///
/// Foundation's reader leaks a buffer for every file of size 0, and the kernel's files all have that size.
package enum FileBytes {
    /// Returns the bytes of a file; nil if it cannot be read or has more than `limit`.
    package static func read(_ path: String, upTo limit: Int) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        while true {
            var count = 0
            bytes += [UInt8](unsafeUninitializedCapacity: 64 * 1024) { space, filled in
                repeat {
                    count = Glibc.read(descriptor, space.baseAddress, space.count)
                } while count < 0 && errno == EINTR
                filled = max(0, count)
            }
            guard count >= 0, bytes.count <= limit else { return nil }
            if count == 0 { return bytes }
        }
    }

    /// Reads a file, a pipe or a device to its end.
    ///
    /// - Parameters:
    ///   - limit: the most bytes.
    ///   - space: the number of zero bytes in front of those of the file.
    ///   - beginning: the first bytes of a file that is worth reading; of any other, only a piece is returned.
    /// - Throws: the system's error; EFBIG if there are more bytes than `limit`.
    package static func read(
        _ path: String, atMost limit: Int, behind space: Int = 0, beginningWith beginning: [UInt8] = []
    ) throws(SystemError) -> [UInt8] {
        let descriptor = path.withSystemText { open($0, O_RDONLY | O_CLOEXEC) }
        guard descriptor >= 0 else { throw .last }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: space)
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
            guard status.st_size <= limit else { throw SystemError(EFBIG) }
            // So that the bytes of a long file are not moved to a longer place again and again.
            bytes.reserveCapacity(space + max(0, Int(status.st_size)))
        }
        var piece = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count = piece.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 { return bytes }
            if count < 0 {
                if errno == EINTR { continue }
                throw .last
            }
            guard bytes.count - space + count <= limit else { throw SystemError(EFBIG) }
            bytes += piece[..<count]
            let start = bytes[space...].prefix(beginning.count)
            if !start.elementsEqual(beginning.prefix(start.count)) { return bytes }
        }
    }

    /// Reads a file, a pipe or a device in pieces, so that its size does not matter.
    ///
    /// - Parameters:
    ///   - size: the maximum size of a piece in bytes.
    ///   - take: gets the pieces in order; their bytes are valid during the call only.
    /// - Throws: the system's error. The pieces before it were given.
    package static func read(
        _ path: String, inPiecesOf size: Int = 256 << 10, _ take: (UnsafeRawBufferPointer) -> Void
    ) throws(SystemError) {
        let descriptor = path.withSystemText { open($0, O_RDONLY | O_CLOEXEC) }
        guard descriptor >= 0 else { throw .last }
        defer { close(descriptor) }
        var piece = [UInt8](repeating: 0, count: size)
        while true {
            let count = piece.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 { return }
            if count < 0 {
                if errno == EINTR { continue }
                throw .last
            }
            piece.withUnsafeBytes { take(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
    }

    /// Returns a short text file of the system's state or configuration; empty if it cannot be read.
    package static func text(_ path: String) -> String {
        String(decoding: Self.read(path, upTo: 64 * 1024) ?? [], as: UTF8.self)
    }
}
