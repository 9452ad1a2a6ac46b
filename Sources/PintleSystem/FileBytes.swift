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

    /// Returns a short text file of the system's state or configuration; empty if it cannot be read.
    package static func text(_ path: String) -> String {
        String(decoding: Self.read(path, upTo: 64 * 1024) ?? [], as: UTF8.self)
    }
}
