// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleSystem

/// The name servers that the system's resolver asks (resolv.conf(5)).
enum NameServers {
    /// The servers of `/etc/resolv.conf` as it is now.
    static func current() -> [SocketAddress] { self.read(FileBytes.text("/etc/resolv.conf")) }

    /// Reads the servers; this machine itself where none is named, as the resolver does.
    static func read(_ text: String) -> [SocketAddress] {
        let servers = text.split(separator: "\n").compactMap { line -> SocketAddress? in
            let words = line.split { $0 == " " || $0 == "\t" }
            guard words.count >= 2, words[0] == "nameserver" else { return nil }
            // Which link a link-local address belongs to does not matter: any such route will do.
            return try? SocketAddress(ipAddress: String(words[1].prefix { $0 != "%" }), port: 0)
        }
        return servers.isEmpty ? (try? SocketAddress(ipAddress: "127.0.0.1", port: 0)).map { [$0] } ?? [] : servers
    }
}
