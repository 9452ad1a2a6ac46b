// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy

/// Rules of nftables that lead connections of some programs of this machine to `capture://` listeners, for an operator to review
/// and load.
struct NetfilterRules {
    /// The programs whose connections are redirected.
    enum Programs: Equatable {
        /// Those of a user, by name or number.
        case user(String)
        /// Those in a group of control groups (version 2): a path below /sys/fs/cgroup.
        case group(String)

        /// Reads `--uid`.
        init(user: String) throws(Malformed) {
            guard !user.isEmpty, user.utf8.count <= 64, user.first != "-",
                user.utf8.allSatisfy({
                    ASCII.isDigit($0) || (0x61...0x7A).contains($0 | 0x20) || "_-.".utf8.contains($0)
                })
            else { throw Malformed("the number or the name of a user") }
            self = .user(user)
        }

        /// Reads `--cgroup`.
        init(group: String) throws(Malformed) {
            let path = group.hasPrefix("/sys/fs/cgroup/") ? String(group.dropFirst("/sys/fs/cgroup/".count)) : group
            let parts = path.split(separator: "/")
            guard !parts.isEmpty, path.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C })
            else {
                throw Malformed("a path below /sys/fs/cgroup, as in system.slice/build.service")
            }
            self = .group(parts.joined(separator: "/"))
        }

        /// The expression that is true for a socket of the programs.
        fileprivate var expression: String {
            switch self {
            case .user(let user): "meta skuid \(ASCII.isDigit(user.utf8.first ?? 0) ? user : "\"\(user)\"")"
            case .group(let path):
                "socket cgroupv2 level \(path.split(separator: "/").count) \"\(path)\""
            }
        }
    }

    private let programs: Programs
    /// The listener for each family of addresses; nil if there is none.
    private let (listener4, listener6): (String?, String?)

    /// - Throws: the reason if the configuration has no listener that rules could lead to.
    init(_ programs: Programs, to listen: [ListenAddress]) throws(Malformed) {
        self.programs = programs
        var found: [IPAddress.Family: String] = [:]
        for place in listen where place.use == .capture {
            guard case .address(let address, let port) = place.place, port > 0, found[address.family] == nil else {
                continue
            }
            let loopback = address.family == .v4 ? IPAddress(v4: 0x7F00_0001) : IPAddress(v6High: 0, low: 1)
            let target = address.isUnspecified ? loopback : address
            found[address.family] = target.family == .v6 ? "[\(target)]:\(port)" : "\(target):\(port)"
        }
        guard !found.isEmpty else {
            throw Malformed("no rule could lead anywhere: add capture://127.0.0.1:3130 to `listen`")
        }
        (self.listener4, self.listener6) = (found[.v4], found[.v6])
    }

    /// The file, for `nft -f`. It replaces rules that were loaded from it before.
    var text: String {
        let match = self.programs.expression
        let redirect = [
            self.listener4.map { "\(match) ip daddr != 127.0.0.0/8 meta l4proto tcp dnat ip to \($0)" },
            self.listener6.map { "\(match) ip6 daddr != ::1 meta l4proto tcp dnat ip6 to \($0)" },
        ].compactMap { $0 }
        var refuse = ["\(match) oif != \"lo\" udp dport 443 reject"]
        if self.listener4 == nil { refuse.append("\(match) oif != \"lo\" meta nfproto ipv4 meta l4proto tcp reject") }
        if self.listener6 == nil { refuse.append("\(match) oif != \"lo\" meta nfproto ipv6 meta l4proto tcp reject") }
        let lines =
            [
                "# Redirects TCP connections to Pintle, and refuses QUIC and what it has no listener for. Load with: nft -f FILE",
                "# Pintle's own connections must not match: run it as another user, outside of that control group.",
                "table inet pintle", "delete table inet pintle", "table inet pintle {", "    chain captured {",
                "        type nat hook output priority -100; policy accept;",
            ] + redirect.map { "        \($0)" } + [
                "    }", "    chain refused {", "        type filter hook output priority 0; policy accept;",
            ] + refuse.map { "        \($0)" } + ["    }", "}"]
        return lines.map { "\($0)\n" }.joined()
    }

    /// The command that removes the rules again.
    static let removal = "delete table inet pintle\n"
}
