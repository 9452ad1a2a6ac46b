// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Networks of commands' own.
package enum OwnNetworks {
    /// True if unshare(1) can do what Pintle does.
    package static let isAvailable: Bool = {
        let options = geteuid() == 0 ? ["--net"] : ["--user", "--map-current-user", "--net"]
        return Self.succeeds("/usr/bin/unshare", options + ["/bin/true"])
    }()

    /// Commands that run their arguments as a user that may make networks and run a program: as this one, and, if it is root, also
    /// as one without privileges.
    package static func launchers(for program: String) -> [[String]] {
        let drop = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        let probe = Array(drop.dropFirst()) + ["/usr/bin/unshare", "--user", "--net", "/usr/bin/test", "-x", program]
        return [["/usr/bin/env"]] + (geteuid() == 0 && Self.succeeds(drop[0], probe) ? [drop] : [])
    }

    private static func succeeds(_ path: String, _ arguments: [String]) -> Bool {
        let process = try? ChildProcess(path, arguments)
        return (try? process?.waitForExit()) == 0
    }
}
