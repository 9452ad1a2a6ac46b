// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// An error of an operation of a ``DiskCache``.
package struct DiskCacheError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Kinds of errors, for callers that distinguish them.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// Another process has the folder.
        case inUse = "in-use"
        /// A newer version of Pintle wrote the index.
        case newerVersion = "newer-version"
        /// The folder or the index cannot be used at all, for example because permissions are missing, or because another user
        /// could change it.
        case unusable
        /// The index contradicts itself; it is replaced by a new one.
        case damagedIndex = "damaged-index"
        /// No space, no quota or no inode is left.
        case noSpace = "no-space"
        /// The device fails, or the system has another error.
        case device
        /// An entry's bytes are damaged; it is removed.
        case damagedEntry = "damaged-entry"
        /// The entry was evicted, removed or replaced in the meantime, or a removal covered it while it was being written.
        case gone
        /// The entry exceeds a limit.
        case tooLarge = "too-large"
        /// Too many entries are being written.
        case busy
        /// The cache was closed, or has no index any more.
        case closed
    }

    package let code: Code
    /// A sentence without a full stop: the place, the fact and the remedy.
    package let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// Makes the error of a failed system call.
    init(_ error: SystemError, _ path: String, _ action: String) {
        let isFull = [ENOSPC, EDQUOT, EFBIG].contains(error.code)
        self.init(isFull ? .noSpace : .device, "\(path) cannot be \(action): \(error)")
    }

    /// Makes the error of a place that the system refuses, or that another user could change.
    init(_ place: UntrustedPlace, _ path: String, _ action: String) {
        if let error = place.system {
            self.init(error, path, action)
        } else {
            self.init(.unusable, place.description)
        }
    }

    static func closed(_ folder: String) -> DiskCacheError { Self(.closed, "\(folder): the cache is closed") }

    static func gone(_ url: String) -> DiskCacheError {
        Self(.gone, "\(url) is no longer in the cache: it was evicted, removed or replaced")
    }

    /// True if writing to the disk failed, so that the next attempt would probably fail in the same way.
    var isAboutWriting: Bool { self.code == .noSpace || self.code == .device }
}
