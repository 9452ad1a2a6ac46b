// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The files of a few lines in which the system says how it is set up.
enum SmallFile {
    /// The first 16 KiB of a file; empty where it cannot be read.
    static func text(_ path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        let bytes = [UInt8](unsafeUninitializedCapacity: 16 * 1024) { space, filled in
            filled = max(0, read(descriptor, space.baseAddress, space.count))
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
