// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Reads files whole.
///
/// Foundation's reader leaks a buffer for every file that says it is empty, and those of the kernel all do.
package enum FileBytes {
    /// The bytes of a file, or nil where it cannot be read or has more than `limit`.
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

    /// A file of a few lines in which the system says how it is set up; empty where it cannot be read.
    package static func text(_ path: String) -> String {
        String(decoding: Self.read(path, upTo: 64 * 1024) ?? [], as: UTF8.self)
    }
}
