// SPDX-License-Identifier: Apache-2.0

package import PintleTrust

/// Keys that some hosts must show, as any format has them: what ``PinFormat`` reads and writes.
package struct PinSet: Sendable, Hashable {
    /// What the policy is called, or nil where the format has no names and none was noted.
    package var name: String?
    /// Whom the pins are for. Empty where the format does not say.
    package var hosts: [PinnedHost]
    /// Each key once, in the order of the file; those of `certificates` included.
    package var pins: [Pin]
    /// Certificates that were given whole.
    package var certificates: [Certificate]
    /// The files and folders that the certificates come from, as they were named.
    package var certificatePaths: [String] = []
    /// Whether a certificate must match byte for byte, and not only its key.
    package var comparesCertificates = false
    /// The first moment at which the pins no longer hold; the start of a day (UTC) in all formats but Pintle's.
    package var expires: UnixTime?
    /// What happens then. Only Pintle has a choice; all others accept every valid chain.
    package var onExpiry = PinExpiry.Action.system
    /// How long a client remembers the pins, in seconds (HPKP alone has this).
    package var maxAge: Int?
    /// Where clients report what does not match.
    package var reportURIs: [String] = []
    /// Whether a mismatch ends the connection, or is only reported.
    package var isEnforced = true

    /// Makes a set; pins that repeat are dropped, and the keys of the certificates are added behind them.
    package init(
        name: String? = nil, hosts: [PinnedHost] = [], pins: [Pin] = [], certificates: [Certificate] = []
    ) {
        self.name = name
        self.hosts = PinnedHost.merged(hosts)
        self.certificates = certificates
        var seen: Set<Pin> = []
        self.pins = (pins + certificates.map(\.spkiPin)).filter { seen.insert($0).inserted }
    }

    /// The name, or what the first host makes of one: letters, digits and `-._`, 64 at most.
    package var nameOrHost: String {
        if let name = self.name { return name }
        return PinSet.fit(self.hosts.first?.name ?? "")
    }

    /// What a configuration can call a policy: letters, digits and `-._`, 64 at most.
    static func fit(_ text: String) -> String {
        let fit = String(text.unicodeScalars.prefix(64).map { PinSet.isFit($0) ? Character($0) : "-" })
        return fit.allSatisfy { $0 == "-" } ? "pinned" : fit
    }

    private static func isFit(_ scalar: UnicodeScalar) -> Bool {
        scalar.isASCII
            && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || "-._".contains(Character(scalar)))
    }

    /// The sets in one order, whatever order their format keeps: hosts sorted, what differs in its hosts alone put
    /// together, sets sorted by their first host and name.
    ///
    /// Formats that have an entry for each host, and those that have a list of hosts, give the same sets by this.
    package static func normalized(_ sets: [PinSet]) -> [PinSet] {
        var result: [PinSet] = []
        var places: [PinSet: Int] = [:]
        for set in sets {
            var key = set
            key.hosts = []
            // Sets without hosts say nothing about one another.
            if !set.hosts.isEmpty, let place = places[key] {
                result[place].hosts += set.hosts
            } else {
                if !set.hosts.isEmpty { places[key] = result.count }
                result.append(set)
            }
        }
        for index in result.indices { result[index].hosts = PinnedHost.merged(result[index].hosts).sorted() }
        return result.enumerated().sorted { left, right in
            let (leftKey, rightKey) = (left.element.sortKey, right.element.sortKey)
            return leftKey == rightKey ? left.offset < right.offset : leftKey < rightKey
        }.map(\.element)
    }

    private var sortKey: String {
        guard let host = self.hosts.first else { return "\u{0}\(self.name ?? "")" }
        return "\(host.name)\u{0}\(host.spellings[0])\u{0}\(self.name ?? "")"
    }
}
