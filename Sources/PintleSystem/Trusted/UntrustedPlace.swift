// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A folder or a file that the program does not use, since another user of the machine could change what is there, or since the
/// system refuses it.
package struct UntrustedPlace: Error, Hashable, Sendable, CustomStringConvertible {
    package let path: String
    /// The reason of the system; nil if the place is not to be trusted.
    package let system: SystemError?
    /// A sentence without a full stop, which says what to do.
    package let reason: String

    package var description: String { "\(self.path): \(self.reason)" }

    private init(_ path: String, _ reason: String) { (self.path, self.system, self.reason) = (path, nil, reason) }

    package init(_ path: String, _ error: SystemError) {
        (self.path, self.system, self.reason) = (path, error, error.description)
    }

    static func isLink(_ path: String) -> UntrustedPlace {
        Self(path, "it is a link, which is not followed; remove it")
    }

    static func isNoFile(_ path: String) -> UntrustedPlace { Self(path, "it is no file; remove it") }

    static func linkOfOther(_ path: String, _ owner: uid_t) -> UntrustedPlace {
        Self(path, "another user (\(owner)) made this link; name the folder that is meant, or make the link yourself")
    }

    static func isOthers(_ path: String, _ owner: uid_t) -> UntrustedPlace {
        Self(
            path,
            "it belongs to another user (\(owner)), who could change what is there; use a folder of your own, or `chown` this one"
        )
    }

    static func isOpen(_ path: String, to whom: String, _ mode: mode_t, remedy: String) -> UntrustedPlace {
        Self(
            path,
            "\(whom) may change what is there (mode \(String(mode & 0o7777, radix: 8))); `chmod \(remedy) \(path)`, or use "
                + "another folder")
    }
}

/// The judgement of who could change a file or a folder.
enum FileTrust {
    /// The owner of the root folder may do everything. It is root, which has another number in a user namespace without one.
    private static let root: uid_t = {
        var status = stat()
        return stat("/", &status) == 0 ? status.st_uid : 0
    }()

    /// True for this user, and for root.
    static func isTrusted(_ owner: uid_t) -> Bool { owner == geteuid() || owner == 0 || owner == Self.root }

    /// Judges a folder or a file whose contents are trusted: nobody else may change it.
    static func check(_ status: stat, _ path: String) throws(UntrustedPlace) {
        guard self.isTrusted(status.st_uid) else { throw .isOthers(path, status.st_uid) }
        guard status.st_mode & S_IWOTH == 0 else {
            throw .isOpen(path, to: "every user", status.st_mode, remedy: "go-w")
        }
        guard status.st_mode & S_IWGRP == 0 else {
            throw .isOpen(path, to: "its group", status.st_mode, remedy: "g-w")
        }
    }

    /// Judges a folder on the way to another one: no stranger may put something else in the place of what is in it. In a folder
    /// with the sticky bit, such as /tmp, only owners may. The group is not asked: with many systems it is the user's own.
    static func checkWay(_ status: stat, _ path: String) throws(UntrustedPlace) {
        guard self.isTrusted(status.st_uid) else { throw .isOthers(path, status.st_uid) }
        guard status.st_mode & S_IWOTH == 0 || status.st_mode & S_ISVTX != 0 else {
            throw .isOpen(path, to: "every user", status.st_mode, remedy: "+t")
        }
    }
}

/// A file that a configuration names, and whose contents are trusted. Links to it are followed: the configuration says so.
package enum TrustedFile {
    /// Judges a file: nobody but this user and root may change it. One that is missing passes.
    package static func check(_ path: String) throws(UntrustedPlace) {
        var status = stat()
        guard pathStat(path, &status) == 0 else { return }
        try FileTrust.check(status, path)
    }
}
