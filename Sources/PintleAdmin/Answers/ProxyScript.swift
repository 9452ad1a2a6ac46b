// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy

/// The script by which browsers find the proxy (proxy auto-configuration).
struct ProxyScript {
    let reply: AdminReply

    /// - Parameter host: the Host of the request: the name by which this machine is known to the client.
    init(_ places: [ListenAddress], asked host: String?) throws(AdminGate.Refusal) {
        let asked = host.flatMap { Authority($0, defaultPort: 80) }?.host ?? "127.0.0.1"
        let entries = places.compactMap { place -> String? in
            guard case .address(let address, let port) = place.place, place.use != .capture else { return nil }
            // Any address of the machine means the one by which the client came.
            let name = address.isUnspecified ? asked : address.description
            return "\(place.isTLS ? "HTTPS" : "PROXY") \(name.contains(":") ? "[\(name)]" : name):\(port)"
        }
        guard !entries.isEmpty else {
            throw AdminGate.Refusal(
                status: 404, title: "No address", detail: "the proxy listens on no address that a browser can use")
        }
        let text = """
            function FindProxyForURL(url, host) {
                return "\(entries.joined(separator: "; "))";
            }

            """
        self.reply = AdminReply(200, "application/x-ns-proxy-autoconfig", Array(text.utf8))
    }
}
