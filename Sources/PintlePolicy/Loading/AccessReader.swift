// SPDX-License-Identifier: Apache-2.0

/// Reads who may use the proxy and where it may connect to.
enum AccessReader {
    static func clients(_ map: StrictMap) -> ClientsConfiguration {
        var clients = ClientsConfiguration()
        map.read("allow", into: &clients.allow) { node in
            node.values { $0.parsed { text throws(Malformed) in try CIDR(text) } }
        }
        return clients
    }

    static func destinations(_ map: StrictMap) -> DestinationsConfiguration {
        var destinations = DestinationsConfiguration()
        map.read("default", into: &destinations.fallback) { $0.choice() }
        map.read("allow", into: &destinations.allow) { $0.hostPatterns() }
        map.read("deny", into: &destinations.deny) { $0.hostPatterns() }
        map.read("private_addresses", into: &destinations.privateAddresses) { $0.choice() }
        map.read("connect_ports", into: &destinations.connectPorts, Self.connectPorts)
        map.read("require_sni_match", into: &destinations.requiresSNIMatch) { $0.bool() }
        return destinations
    }

    private static func connectPorts(_ node: StrictNode) -> DestinationsConfiguration.ConnectPorts? {
        guard !node.isList else { return node.values { $0.int(1...65_535) }.map { .only($0.map(UInt16.init)) } }
        return node.parsed { text throws(Malformed) in
            switch text {
            case "auto": return .auto
            case "any": return .any
            default:
                guard let port = UInt16(text), port > 0 else {
                    throw Malformed("must be any, auto, or ports from 1 to 65535, as in [443, 8443]")
                }
                return .only([port])
            }
        }
    }
}

extension StrictNode {
    /// A list of host patterns that may be empty: a list of nobody is what it looks like.
    func hostPatterns() -> [HostPattern]? {
        if self.isEmptyList { return [] }
        return self.values { $0.parsed { text throws(Malformed) in try HostPattern(text) } }
    }
}
