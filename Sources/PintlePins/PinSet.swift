// SPDX-License-Identifier: Apache-2.0

package import PintleTrust

/// Keys that some hosts must show, independent of a format: the sets that ``PinFormat`` reads and writes.
package struct PinSet: Sendable, Hashable {
    /// The name of the policy; nil if the format has no names and none was noted.
    package var name: String?
    /// The hosts that the pins are for. Empty if the format does not say.
    package var hosts: [PinnedHost]
    /// Each key once, in the order of the file, including those of `certificates`.
    package var pins: [Pin]
    /// Certificates that the file has as a whole.
    package var certificates: [Certificate]
    /// The files and folders that the certificates come from, in the given spelling.
    package var certificatePaths: [String] = []
    /// True if a certificate must match byte for byte, and not only its key.
    package var comparesCertificates = false
    /// The first moment at which the pins no longer hold; the start of a day (UTC) in all formats but Pintle's.
    package var expires: UnixTime?
    /// The action at the end. Only Pintle has a choice; with all other formats, every valid chain is accepted.
    package var onExpiry = PinExpiry.Action.system
    /// Seconds for which a client remembers the pins (only in HPKP).
    package var maxAge: Int?
    /// The URIs to which clients report mismatches.
    package var reportURIs: [String] = []
    /// True if a mismatch ends the connection; false if it is only reported.
    package var isEnforced = true

    /// Makes a set. Repeated pins are dropped, and the keys of the certificates are added after the pins.
    package init(
        name: String? = nil, hosts: [PinnedHost] = [], pins: [Pin] = [], certificates: [Certificate] = []
    ) {
        self.name = name
        self.hosts = PinnedHost.merged(hosts)
        self.certificates = certificates
        var seen: Set<Pin> = []
        self.pins = (pins + certificates.map(\.spkiPin)).filter { seen.insert($0).inserted }
    }

    /// The name, or one made from the first host: letters, digits and `-._`, 64 at most.
    package var nameOrHost: String {
        if let name = self.name { return name }
        return PinSet.fit(self.hosts.first?.name ?? "")
    }

    /// Converts a text to a name that a configuration allows for a policy: letters, digits and `-._`, 64 at most.
    static func fit(_ text: String) -> String {
        let fit = String(text.unicodeScalars.prefix(64).map { PinSet.isFit($0) ? Character($0) : "-" })
        return fit.allSatisfy { $0 == "-" } ? "pinned" : fit
    }

    private static func isFit(_ scalar: UnicodeScalar) -> Bool {
        scalar.isASCII
            && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || "-._".contains(Character(scalar)))
    }

    /// Returns the sets in a fixed order, whatever the order of their format: hosts sorted, sets that differ only in hosts
    /// merged, sets sorted by their first host and name.
    ///
    /// Formats with an entry for each host and formats with a list of hosts thereby give equal sets.
    package static func normalized(_ sets: [PinSet]) -> [PinSet] {
        var result: [PinSet] = []
        var places: [PinSet: Int] = [:]
        for set in sets {
            var key = set
            key.hosts = []
            // Sets without hosts may be about different ones, and are not merged.
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
