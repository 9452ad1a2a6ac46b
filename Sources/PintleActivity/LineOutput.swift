// SPDX-License-Identifier: Apache-2.0

import Glibc
internal import PintleSystem

/// A file descriptor that takes whole lines from any thread.
///
/// Each call is one write(2), so that lines of several processes stay apart on a file opened for appending. A write that
/// fails loses its lines and nothing else.
final class LineOutput: Sendable {
    private struct State: Sendable {
        var descriptor: Int32
        let isOwned: Bool
        /// The last write stopped within a line, as it does when the disk fills up.
        var isTorn = false

        init(_ descriptor: Int32, isOwned: Bool) {
            (self.descriptor, self.isOwned) = (descriptor, isOwned)
            self.isTorn = isOwned && LineOutput.endsWithinLine(descriptor)
        }
    }

    /// Why lines were lost.
    struct Failure: Error {
        let code: Int32
    }

    private let state: Locked<State>

    /// Without this, a reader that closes its end of a pipe ends the process. A handler of the host's own stays.
    private static let brokenPipesAreErrors: Void = {
        var current = sigaction()
        guard sigaction(SIGPIPE, nil, &current) == 0, current.__sigaction_handler.sa_handler == nil else { return }
        signal(SIGPIPE, SIG_IGN)
    }()

    /// Writes to a descriptor that somebody else keeps open.
    init(borrowing descriptor: Int32) {
        Self.brokenPipesAreErrors
        self.state = Locked(State(descriptor, isOwned: false))
    }

    /// Appends to a file, made for its owner and group when there is none.
    init(appendingTo path: String) throws(LogFileError) {
        Self.brokenPipesAreErrors
        self.state = Locked(State(try Self.open(path), isOwned: true))
    }

    deinit {
        self.state.withLock { state in
            if state.isOwned { _ = close(state.descriptor) }
        }
    }

    /// Goes on in another file, which it owns, and closes the one before.
    func replace(with descriptor: Int32) {
        let old = self.state.withLock { state in
            defer { state = State(descriptor, isOwned: true) }
            return state.descriptor
        }
        _ = close(old)
    }

    /// Writes lines that end with a newline.
    func write(_ lines: ArraySlice<UInt8>) throws(Failure) {
        try self.state.withLock { state throws(Failure) in
            var isTorn = state.isTorn
            let code =
                if isTorn {
                    // What follows must not look like the rest of the torn line.
                    Self.write([UInt8(ascii: "\n")] + lines, to: state.descriptor, isTorn: &isTorn)
                } else {
                    Self.write(lines, to: state.descriptor, isTorn: &isTorn)
                }
            state.isTorn = isTorn
            guard code == 0 else { throw Failure(code: code) }
        }
    }

    /// Returns an error number, 0 for none.
    private static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32, isTorn: inout Bool) -> Int32 {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count > 0 {
                    rest = rest.dropFirst(count)
                    isTorn = !rest.isEmpty
                } else if count == 0 {
                    // Never seen on a file; without this a device that takes nothing would hold the thread.
                    return EIO
                } else if errno != EINTR {
                    return errno
                }
            }
            return 0
        }
    }

    /// True if a file ends within a line: a disk was full when it was written last, or the machine lost power.
    private static func endsWithinLine(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else {
            return false
        }
        // The log's own descriptor is for writing alone.
        let reading = PintleSystem.open("/proc/self/fd/\(descriptor)", O_RDONLY | O_CLOEXEC)
        guard reading >= 0 else { return false }
        defer { _ = close(reading) }
        var last = UInt8(ascii: "\n")
        _ = pread(reading, &last, 1, status.st_size - 1)
        return last != UInt8(ascii: "\n")
    }

    static func open(_ path: String) throws(LogFileError) -> Int32 {
        // A pipe that nobody reads would hold up whoever opens it; as it is, that is an error.
        let flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
        let descriptor = PintleSystem.open(path, flags, 0o640)
        guard descriptor >= 0 else { throw LogFileError(path: path, code: errno) }
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        return descriptor
    }
}

/// A log file that cannot be opened.
package struct LogFileError: Error, Hashable, CustomStringConvertible {
    /// The file.
    package let path: String
    /// The system's error number.
    package let code: Int32

    /// Names the file and the system's reason.
    package var description: String {
        "cannot open the exchange log \(self.path): \(SystemError(self.code))"
    }
}
