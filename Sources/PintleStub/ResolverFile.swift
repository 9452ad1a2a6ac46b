// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The file that names the servers which the system's resolver asks (resolv.conf(5)).
package enum ResolverFile {
    /// The most servers that are returned. The C library takes three, others more.
    private static let most = 8
    /// The server that stands for those that a captured network cannot reach: an address for documentation (RFC 5737), whose port 53
    /// leads to the network's resolver, as of all addresses but the network's own.
    private static let reachable = "192.0.2.53"

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

    /// Returns the text as a command in a captured network needs it: without domains to search, and with servers that it can ask there;
    /// nil if nothing has to be changed.
    ///
    /// - Parameter hasOwnDomain: true if the machine's own name is in a domain, which is searched if the text names none.
    package static func captured(_ text: String, hasOwnDomain: Bool) -> String? {
        let asking = self.withReachableServers(text)
        return self.withoutSearch(asking ?? text, hasOwnDomain: hasOwnDomain) ?? asking
    }

    /// Returns the text with other servers for those on a link (`fe80::1%eth0`), which the command's network does not have; nil if there
    /// are none.
    private static func withReachableServers(_ text: String) -> String? {
        var isChanged = false
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map { line -> Substring in
            let words = line.split { $0 == " " || $0 == "\t" }
            guard words.count > 1, words[0] == "nameserver", self.isOnLink(words[1]) else { return line }
            isChanged = true
            return Substring("nameserver \(self.reachable)")
        }
        return isChanged ? lines.joined(separator: "\n") : nil
    }

    /// True for an address with a zone, and for one of fe80::/10, which the C library can only ask with a zone (RFC 4007 §6).
    private static func isOnLink(_ server: Substring) -> Bool {
        if server.contains("%") { return true }
        guard let address = IPAddress(server), address.family == .v6 else { return false }
        return address.high >> 54 == 0xFE80 >> 6
    }

    /// Returns the text without domains to search; nil if it has none.
    private static func withoutSearch(_ text: String, hasOwnDomain: Bool) -> String? {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map { line in
            (line: line, words: line.split { $0 == " " || $0 == "\t" })
        }
        func namesDomains(_ words: [Substring]) -> Bool { words.first == "search" || words.first == "domain" }
        // The root alone means that nothing is searched.
        let searches = lines.contains { namesDomains($0.words) && $0.words.dropFirst().contains { $0 != "." } }
        let isSilent = !lines.contains { namesDomains($0.words) }
        guard searches || (isSilent && hasOwnDomain) else { return nil }
        return (["search ."] + lines.filter { !namesDomains($0.words) }.map { $0.line }).joined(separator: "\n")
    }
}
