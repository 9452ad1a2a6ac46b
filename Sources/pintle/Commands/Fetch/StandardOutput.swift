// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc
internal import NIOCore
internal import PintleSystem

/// Writes bodies to standard output, whose reader may be slow, without holding up other tasks.
enum StandardOutput {
    /// - Throws: ``FetchFailure`` when nobody reads any more, or a disk is full.
    static func write(_ bytes: ByteBuffer) async throws(FetchFailure) {
        let code = await ThreadPool.shared.result { Self.writeAll(bytes) }
        guard code == 0 else {
            throw FetchFailure(
                exit: .incomplete, code: "cannotWrite",
                message: "standard output cannot be written: \(SystemError(code))")
        }
    }

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
