// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The file that names the servers which the system's resolver asks (resolv.conf(5)).
package enum ResolverFile {
    /// The most servers that are returned. The C library takes three, others more.
    private static let most = 8

    /// Returns the servers on the machine's loopback. Their port 53 must lead to the resolver of a captured network, although the
    /// loopback is the command's own there.
    package static func loopbackServers(in text: String) -> [IPAddress] {
        let named = text.split(whereSeparator: \.isNewline).compactMap { line -> Substring? in
            let words = line.split { $0 == " " || $0 == "\t" }
            return words.count > 1 && words[0] == "nameserver" ? words[1] : nil
        }
        // Without a server the C library asks this machine.
        guard !named.isEmpty else { return [IPAddress(v4: 0x7F00_0001)] }
        var servers: [IPAddress] = []
        for address in named.lazy.compactMap({ IPAddress($0) }) where address.isLoopback && !servers.contains(address) {
            servers.append(address)
        }
        return Array(servers.prefix(self.most))
    }
}
