// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The ports that patterns name for hosts, found by hashing: there may be thousands of patterns.
package struct HostPorts: Sendable {
    private let ports: [UInt16]
    /// The patterns that name the ports, for every port, by the places of these.
    private let hosts: HostIndex

    /// - Parameter ports: those that matter, each once.
    package init(_ ports: [UInt16], of patterns: [HostPattern]) {
        let places = Dictionary(uniqueKeysWithValues: ports.enumerated().map { ($1, $0) })
        var groups = [Set<HostPattern>](repeating: [], count: ports.count)
        for pattern in patterns {
            if let place = pattern.port.flatMap({ places[$0] }) { groups[place].insert(pattern.onEveryPort) }
        }
        var hosts = HostIndex()
        for (place, group) in groups.enumerated() { for pattern in group { hosts.insert(pattern, number: place) } }
        (self.ports, self.hosts) = (ports, hosts)
    }

    /// The ports that patterns for the host name, in the order in which they were given. The host's own port does not matter.
    package func ports(of host: Authority) -> [UInt16] { self.hosts.all(host).map { self.ports[$0] } }
}
