// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// How long a file is.
enum FileLength {
    /// The length of a regular file, or of the one that a symbolic link leads to, in bytes.
    ///
    /// - Throws: `.unreadableFile` for what is missing, is no regular file, or may not be read.
    static func ofRegularFile(at path: String) throws(SerializationError) -> UInt64 {
        // The attributes would be those of a link itself.
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: target) else {
            throw SerializationError(
                .unreadableFile, "there is no such file, or a folder above it may not be entered.", path: path)
        }
        guard let type = attributes[.type] as? FileAttributeType, type == .typeRegular,
            let length = attributes[.size] as? NSNumber
        else { throw SerializationError(.unreadableFile, "this is no regular file.", path: path) }
        guard FileManager.default.isReadableFile(atPath: target) else {
            throw SerializationError(.unreadableFile, "there is no permission to read this file.", path: path)
        }
        return length.uint64Value
    }
}
