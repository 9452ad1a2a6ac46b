// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// The setting of a system that keeps a user from making namespaces, as far as the system's files tell.
enum NamespaceObstacle: Equatable {
    /// Debian's `kernel.unprivileged_userns_clone` is 0.
    case usersForbidden
    /// `kernel.apparmor_restrict_unprivileged_userns` is 1: namespaces are made, but nothing may be done in them.
    case appArmor
    /// The limit with this name permits no more (namespaces(7)).
    case limit(String)
    /// A filter of system calls (seccomp(2)) applies to Pintle itself, as in most containers.
    case filter
    /// The process may have no more open files, of which each place needs one whose files are hidden.
    case openFiles
    case unknown

    /// Finds the obstacle behind an error.
    ///
    /// - Parameters:
    ///   - error: the error of the call that failed.
    ///   - text: returns a file of /proc; empty if there is none.
    init(_ error: SystemError, text: (String) -> String = FileBytes.text) {
        func number(_ path: String) -> Int? { Int(text("/proc/sys/\(path)").prefix { !$0.isWhitespace }) }
        let limits = ["user", "net", "mnt", "pid"].map { "user.max_\($0)_namespaces" }
        if error.code == ENOSPC || error.code == EUSERS {
            let exhausted = limits.first { number($0.replacing(".", with: "/")) == 0 }
            self = .limit(exhausted ?? limits.joined(separator: " or "))
        } else if error.code == EMFILE {
            self = .openFiles
        } else if error.code != EPERM, error.code != EACCES, error.code != ENOSYS {
            self = .unknown
        } else if number("kernel/unprivileged_userns_clone") == 0 {
            self = .usersForbidden
        } else if number("kernel/apparmor_restrict_unprivileged_userns") == 1 {
            self = .appArmor
        } else if Self.isFiltered(text("/proc/self/status")) {
            self = .filter
        } else {
            self = .unknown
        }
    }

    /// Reads the line `Seccomp:` of proc_pid_status(5), whose mode 2 is a filter.
    private static func isFiltered(_ status: String) -> Bool {
        status.split(separator: "\n").contains { line in
            line.hasPrefix("Seccomp:") && line.split(whereSeparator: \.isWhitespace).last == "2"
        }
    }

    /// The end of a sentence, which names the setting to change.
    var remedy: String {
        let needs = "--isolate needs namespaces (unshare(2)), which "
        return switch self {
        case .usersForbidden:
            needs + "kernel.unprivileged_userns_clone=0 keeps from users: set it to 1 (sysctl(8))"
        case .appArmor:
            needs + "kernel.apparmor_restrict_unprivileged_userns=1 keeps from users: set it to 0 (sysctl(8)), or give "
                + "pintle an AppArmor profile with the rule userns"
        case .limit(let name):
            needs + "the limit \(name) does not let this user make: raise it (sysctl(8))"
        case .filter:
            needs + "a filter of system calls (seccomp(2)) forbids: start the container of pintle with a profile that "
                + "allows unshare(2)"
        case .openFiles:
            "--isolate needs a file for each entry of /run: raise the hard limit of open files (ulimit -H -n)"
        case .unknown: needs + "this system does not let this user make"
        }
    }
}
