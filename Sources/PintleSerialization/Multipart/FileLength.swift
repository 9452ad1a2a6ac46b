// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// The lengths of files.
enum FileLength {
    /// Returns the length of a regular file, or of the one that a symbolic link leads to, in bytes.
    ///
    /// - Throws: `.unreadableFile` if the file is missing, not a regular file, or not readable.
    static func ofRegularFile(at path: String) throws(SerializationError) -> UInt64 {
        var attributes = stat()
        guard pathStat(path, &attributes) == 0 else {
            throw SerializationError(
                .unreadableFile, "there is no such file, or a folder above it may not be entered.", path: path)
        }
        guard attributes.st_mode & S_IFMT == S_IFREG, let length = UInt64(exactly: attributes.st_size) else {
            throw SerializationError(.unreadableFile, "this is no regular file.", path: path)
        }
        guard access(path, R_OK) == 0 else {
            throw SerializationError(.unreadableFile, "there is no permission to read this file.", path: path)
        }
        return length
    }
}
