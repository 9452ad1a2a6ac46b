// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The hosts by which clients address this proxy itself: on a route that names no hosts, the Host of a gateway request must be
/// one of them.
///
/// This stops DNS rebinding: a web page of `evil.example` can make that name resolve to the proxy's address to read the
/// proxy's answers, but the Host is then still `evil.example`.
package struct OwnNames: Sendable {
    private var names: Set<String> = ["localhost"]
    /// True if a listener accepts connections to any address: any literal address may then be the proxy's own, also through
    /// port forwarding. No page can be served from an address that is not its server's.
    private var includesAddresses = false

    /// - Parameters:
    ///   - machine: the machine's name, in whatever letter case, with its domain or without; nil for none.
    ///   - certificate: the names of the certificate that listeners with TLS show.
    init(_ listeners: [ListenAddress], machine: String?, certificate: [String]) {
        for listener in listeners {
            guard case .address(let address, _) = listener.place, listener.use != .capture else { continue }
            if address.isUnspecified { self.includesAddresses = true }
            if address.isLoopback { self.names.formUnion(["127.0.0.1", "::1"]) }
            self.names.insert(address.description)
        }
        for name in [machine].compactMap({ $0 }) + certificate {
            guard let host = Authority(name, defaultPort: 80)?.host else { continue }
            self.names.insert(host)
        }
        if let short = machine?.lowercased().prefix(while: { $0 != "." }), !short.isEmpty {
            self.names.insert(String(short))
        }
    }

    /// The names, without the literal addresses of a listener on any address.
    var all: [String] { self.names.sorted() }

    package func contains(_ host: String) -> Bool {
        self.names.contains(host) || (self.includesAddresses && IPAddress(host) != nil)
    }

    /// The names, in alphabetical order.
    var description: String {
        (self.all + (self.includesAddresses ? ["any literal address"] : [])).joined(separator: ", ")
    }
}
