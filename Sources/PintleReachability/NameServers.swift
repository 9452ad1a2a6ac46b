// SPDX-License-Identifier: Apache-2.0

package import NIOCore
internal import PintleSystem

/// The name servers that the system's resolver asks (resolv.conf(5)).
package enum NameServers {
    /// The port at which name servers are asked.
    package static let port = 53

    /// Returns the servers that `/etc/resolv.conf` names now.
    package static func current() -> [SocketAddress] { self.read(FileBytes.text("/etc/resolv.conf")) }

    /// Reads the servers, with port 0; returns this machine itself if none is named, as the resolver does.
    package static func read(_ text: String) -> [SocketAddress] {
        let servers = text.split(separator: "\n").compactMap { line -> SocketAddress? in
            let words = line.split { $0 == " " || $0 == "\t" }
            guard words.count >= 2, words[0] == "nameserver" else { return nil }
            // The link of a link-local address does not matter: a route over any link will do.
            return try? SocketAddress(ipAddress: String(words[1].prefix { $0 != "%" }), port: 0)
        }
        return servers.isEmpty ? (try? SocketAddress(ipAddress: "127.0.0.1", port: 0)).map { [$0] } ?? [] : servers
    }
}
