// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import PintleSystem

/// Writes bodies to standard output without blocking other tasks if its reader is slow.
enum StandardOutput {
    /// - Throws: ``FetchFailure`` if the reader has closed the pipe, or a disk is full.
    static func write(_ bytes: ByteBuffer) async throws(FetchFailure) {
        let code = await ThreadPool.shared.result { Self.writeAll(bytes) }
        guard code == 0 else {
            throw FetchFailure(
                exit: .incomplete, code: "cannotWrite",
                message: "standard output cannot be written: \(SystemError(code))")
        }
    }

    /// Writes all bytes.
    ///
    /// - Returns: zero, or the system's error number.
    private static func writeAll(_ bytes: ByteBuffer) -> Int32 {
        bytes.withUnsafeReadableBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Glibc.write(STDOUT_FILENO, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0 {
                    if errno == EINTR { continue }
                    return errno
                }
                rest = rest.dropFirst(count)
            }
            return 0
        }
    }
}
