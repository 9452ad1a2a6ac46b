// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The error for a folder or a file that the program does not use, because another user of the machine could change it, or
/// because the system refuses access.
package struct UntrustedPlace: Error, Hashable, Sendable, CustomStringConvertible {
    package let path: String
    /// The system's error; nil if the place is accessible but not trusted.
    package let system: SystemError?
    /// A sentence without a full stop, which names the problem and the remedy.
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

/// Checks which users could change a file or a folder.
enum FileTrust {
    /// The owner of the root folder has all rights. This is root; its number differs in a user namespace that does not map
    /// it.
    private static let root: uid_t = {
        var status = stat()
        return stat("/", &status) == 0 ? status.st_uid : 0
    }()

    /// True if the owner is this user or root.
    static func isTrusted(_ owner: uid_t) -> Bool { owner == geteuid() || owner == 0 || owner == Self.root }

    /// Checks a folder or a file whose contents are trusted: no other user may be able to change it.
    static func check(_ status: stat, _ path: String) throws(UntrustedPlace) {
        guard self.isTrusted(status.st_uid) else { throw .isOthers(path, status.st_uid) }
        guard status.st_mode & S_IWOTH == 0 else {
            throw .isOpen(path, to: "every user", status.st_mode, remedy: "go-w")
        }
        guard status.st_mode & S_IWGRP == 0 else {
            throw .isOpen(path, to: "its group", status.st_mode, remedy: "g-w")
        }
    }

    /// Checks a folder on the path to another one: no other user may be able to replace its entries. In a folder with the
    /// sticky bit, such as /tmp, only owners can. The group's rights are ignored, because on many systems each user has a
    /// group of their own.
    static func checkWay(_ status: stat, _ path: String) throws(UntrustedPlace) {
        guard self.isTrusted(status.st_uid) else { throw .isOthers(path, status.st_uid) }
        guard status.st_mode & S_IWOTH == 0 || status.st_mode & S_ISVTX != 0 else {
            throw .isOpen(path, to: "every user", status.st_mode, remedy: "+t")
        }
    }
}

/// Checks files that a configuration names and that must be trusted. Links to them are followed, because the
/// configuration names them.
package enum TrustedFile {
    /// Checks that only this user and root can change a file. A missing file passes.
    package static func check(_ path: String) throws(UntrustedPlace) {
        var status = stat()
        guard pathStat(path, &status) == 0 else { return }
        try FileTrust.check(status, path)
    }
}
