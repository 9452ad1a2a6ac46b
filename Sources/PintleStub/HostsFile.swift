// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The file that gives names addresses, which programs read before they ask a name server (hosts(5)).
package enum HostsFile {
    /// The names that mean a program's own machine on every system.
    private static let own: Set<String> = [
        "localhost", "localhost.localdomain", "localhost4", "localhost4.localdomain4", "localhost6",
        "localhost6.localdomain6",
    ]

    /// Returns the text as a command in a captured network needs it: with the names of its own machine alone, at addresses of the loopback;
    /// nil if nothing has to be changed.
    ///
    /// - Parameter machine: the machine's own name; empty if it has none.
    package static func captured(_ text: String, machine: String) -> String? {
        let machine = machine.lowercased()
        var isChanged = false
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let kept = lines.compactMap { line -> Substring? in
            let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" }
            // Programs pass over lines without a name, and over those without an address.
            guard words.count > 1, let address = IPAddress(words[0]) else { return line }
            let names = self.ownNames(words.dropFirst(), machine)
            let place = names.allSatisfy { self.isOfProtocol($0) } ? words[0] : self.loopback(address, words[0])
            if names.count == words.count - 1, place == words[0] { return line }
            isChanged = true
            return names.isEmpty ? nil : Substring(([place] + names).joined(separator: " "))
        }
        return isChanged ? kept.joined(separator: "\n") : nil
    }

    /// The names of a line that are the machine's own. Beside its name stand its name in a domain and its short name.
    private static func ownNames(_ names: ArraySlice<Substring>, _ machine: String) -> [Substring] {
        let isOfMachine = !machine.isEmpty && names.contains { $0.lowercased() == machine }
        let short = String(machine.prefix { $0 != "." })
        return names.filter { name in
            let name = name.lowercased()
            return self.own.contains(name) || name.hasSuffix(".localhost") || self.isOfProtocol(name)
                || isOfMachine && (name == short || name.hasPrefix("\(short)."))
        }
    }

    /// True for names such as `ip6-allnodes`, which Debian gives to addresses that every machine has.
    private static func isOfProtocol(_ name: some StringProtocol) -> Bool { name.hasPrefix("ip6-") }

    /// The address at which the command's network has the machine's own servers: the machine's other addresses are not there.
    private static func loopback(_ address: IPAddress, _ text: Substring) -> Substring {
        address.isLoopback ? text : address.family == .v4 ? "127.0.0.1" : "::1"
    }
}
