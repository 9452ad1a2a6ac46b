// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A temporary file of this process: bytes are appended to it, and at the end all are read at once, with others in front.
///
/// It has no name, so that nothing is left of it, however the process ends. The room in front is a hole in the file, which takes no
/// space on the disk. Can be used from any thread.
package final class SpoolFile: Sendable {
    private struct State: Sendable {
        /// The bytes that are not in the file yet.
        var buffer: [UInt8] = []
        /// The bytes that were appended, in all.
        var count = 0
    }

    /// The bytes that are gathered before they are written.
    private static let gathered = 256 << 10

    private let descriptor: Int32
    private let room: Int
    private let state = Locked(State())

    /// Creates the file on the file system of `path`, in its folder.
    ///
    /// - Parameter room: the most bytes that can be put in front.
    package init(besides path: String, room: Int) throws(SystemError) {
        let name = CompanionFile.temporary.path(beside: path)
        let descriptor = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .last }
        unlink(name)
        (self.descriptor, self.room) = (descriptor, room)
    }

    deinit { close(self.descriptor) }

    /// The bytes that were appended.
    package var count: Int { self.state.withLock { $0.count } }

    /// Appends bytes.
    ///
    /// - Throws: the system's error; the file is then of no use.
    package func append(_ bytes: [UInt8]) throws(SystemError) {
        try self.state.withLock { state throws(SystemError) in
            state.buffer += bytes
            state.count += bytes.count
            if state.buffer.count >= Self.gathered { try self.flush(&state) }
        }
    }

    /// Calls `body` with `front` and all appended bytes behind it, in one piece of memory that the system fills from the file when
    /// it is read.
    ///
    /// - Precondition: `front` has at most as many bytes as there is room.
    package func withBytes<Value, Failure>(
        behind front: [UInt8], _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(SystemError) -> Result<Value, Failure> {
        precondition(front.count <= self.room, "BUG: there is no room for what is put in front")
        let count = try self.state.withLock { state throws(SystemError) in
            try self.flush(&state)
            return state.count
        }
        let start = self.room - front.count
        try self.write(front, at: start)
        // A map begins with a page.
        let lead = start % Int(getpagesize())
        let length = lead + front.count + count
        guard let map = mmap(nil, length, PROT_READ, MAP_PRIVATE, self.descriptor, start - lead), map != MAP_FAILED
        else { throw .last }
        defer { munmap(map, length) }
        let whole = UnsafeRawBufferPointer(start: map, count: length)
        return Result { () throws(Failure) in try body(UnsafeRawBufferPointer(rebasing: whole[lead...])) }
    }

    private func flush(_ state: inout State) throws(SystemError) {
        let place = self.room + state.count - state.buffer.count
        try self.write(state.buffer, at: place)
        state.buffer.removeAll(keepingCapacity: true)
    }

    private func write(_ bytes: [UInt8], at place: Int) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { bytes in
                pwrite(
                    self.descriptor, bytes.baseAddress?.advanced(by: written), bytes.count - written, place + written)
            }
            if count < 0 {
                if errno == EINTR { continue }
                throw .last
            }
            written += count
        }
    }
}
