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

    /// Returns the text without domains to search; nil if it has none.
    ///
    /// - Parameter hasOwnDomain: true if the machine's own name is in a domain, which is searched if the text names none.
    package static func withoutSearch(_ text: String, hasOwnDomain: Bool) -> String? {
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
