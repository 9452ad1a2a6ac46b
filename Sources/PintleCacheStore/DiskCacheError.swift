// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// An operation of a ``DiskCache`` that cannot be done.
package struct DiskCacheError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Kinds of errors, which whoever asks tells apart.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// Another process has the folder.
        case inUse = "in-use"
        /// A newer version of Pintle wrote the index.
        case newerVersion = "newer-version"
        /// The folder or the index cannot be used at all, as where permissions are missing, or another user could change it.
        case unusable
        /// The index contradicts itself; a new one takes its place.
        case damagedIndex = "damaged-index"
        /// No space, no quota or no inode is left.
        case noSpace = "no-space"
        /// The device fails, or another error of the system's.
        case device
        /// An entry's bytes are not those that were written; it is removed.
        case damagedEntry = "damaged-entry"
        /// The entry was evicted, removed or replaced meanwhile, or a removal has come while it was being written.
        case gone
        /// The entry exceeds a limit.
        case tooLarge = "too-large"
        /// As many entries are being written as may be.
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

    /// A system call that failed.
    init(_ error: SystemError, _ path: String, _ action: String) {
        let isFull = [ENOSPC, EDQUOT, EFBIG].contains(error.code)
        self.init(isFull ? .noSpace : .device, "\(path) cannot be \(action): \(error)")
    }

    /// A place that the system refuses, or that another user could change.
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

    /// Whether it is about writing to the disk, so that the next attempt may go as this one went.
    var isAboutWriting: Bool { self.code == .noSpace || self.code == .device }
}
