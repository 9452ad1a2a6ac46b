// SPDX-License-Identifier: Apache-2.0

import Glibc
internal import PintleSystem

/// A file descriptor to which any thread can write whole lines.
///
/// Each call is one write(2), so that several processes can append to the same file without mixing their lines. A write
/// that fails loses its own lines only.
final class LineOutput: Sendable {
    private struct State: Sendable {
        var descriptor: Int32
        let isOwned: Bool
        /// True if the last write ended within a line, as it does if the disk fills up.
        var isTorn = false

        init(_ descriptor: Int32, isOwned: Bool) {
            (self.descriptor, self.isOwned) = (descriptor, isOwned)
            self.isTorn = isOwned && LineOutput.endsWithinLine(descriptor)
        }
    }

    /// The reason why lines were lost, as a system error number.
    struct Failure: Error {
        let code: Int32
    }

    private let state: Locked<State>

    /// Makes writes to a closed pipe fail instead of ending the process. If the host has a SIGPIPE handler, that stays.
    private static let brokenPipesAreErrors: Void = {
        var current = sigaction()
        guard sigaction(SIGPIPE, nil, &current) == 0, current.__sigaction_handler.sa_handler == nil else { return }
        signal(SIGPIPE, SIG_IGN)
    }()

    /// Writes to a descriptor that the caller keeps open.
    init(borrowing descriptor: Int32) {
        Self.brokenPipesAreErrors
        self.state = Locked(State(descriptor, isOwned: false))
    }

    /// Appends to a file. If there is none, creates one for its owner and group.
    init(appendingTo path: String) throws(LogFileError) {
        Self.brokenPipesAreErrors
        self.state = Locked(State(try Self.open(path), isOwned: true))
    }

    deinit {
        self.state.withLock { state in
            if state.isOwned { _ = close(state.descriptor) }
        }
    }

    /// True if people read the lines at a terminal.
    var isTerminal: Bool { self.state.withLock { isatty($0.descriptor) == 1 } }

    /// Switches to another file, which it will own, and closes the previous one.
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
                    // The next line must not look like the rest of the torn one.
                    Self.write([UInt8(ascii: "\n")] + lines, to: state.descriptor, isTorn: &isTorn)
                } else {
                    Self.write(lines, to: state.descriptor, isTorn: &isTorn)
                }
            state.isTorn = isTorn
            guard code == 0 else { throw Failure(code: code) }
        }
    }

    /// Writes all bytes. Returns an error number, or 0 for none.
    private static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32, isTorn: inout Bool) -> Int32 {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count > 0 {
                    rest = rest.dropFirst(count)
                    isTorn = !rest.isEmpty
                } else if count == 0 {
                    // Not known of any file, but a device that accepts no bytes would otherwise block the thread for ever.
                    return EIO
                } else if errno != EINTR {
                    return errno
                }
            }
            return 0
        }
    }

    /// True if a file ends within a line: the disk was full at the last write, or the machine lost power.
    private static func endsWithinLine(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else {
            return false
        }
        // The log's own descriptor is write-only.
        let reading = PintleSystem.open("/proc/self/fd/\(descriptor)", O_RDONLY | O_CLOEXEC)
        guard reading >= 0 else { return false }
        defer { _ = close(reading) }
        var last = UInt8(ascii: "\n")
        _ = pread(reading, &last, 1, status.st_size - 1)
        return last != UInt8(ascii: "\n")
    }

    static func open(_ path: String) throws(LogFileError) -> Int32 {
        // With O_NONBLOCK, opening a pipe that has no reader fails instead of blocking.
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
