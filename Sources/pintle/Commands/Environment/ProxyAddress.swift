// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy

/// The address of a proxy in the form of environment variables: `http://127.0.0.1:3128`.
struct ProxyAddress: Sendable, Equatable, CustomStringConvertible {
    /// An IP address as in a URL, with brackets for IPv6.
    let host: String
    let port: UInt16
    let isTLS: Bool

    /// - Returns: nil for a Unix socket, for port 0, and for a place that clients cannot ask.
    init?(_ place: ListenAddress) {
        guard case .address(let address, let port) = place.place, port > 0, place.use != .capture else { return nil }
        // A proxy that listens on all addresses is named by the loopback address.
        let told: IPAddress =
            switch (address.isUnspecified, address.family) {
            case (true, .v4): IPAddress(v4: 0x7F00_0001)
            case (true, .v6): IPAddress(v6High: 0, low: 1)
            case (false, _): address
            }
        self.host = told.family == .v6 ? "[\(told)]" : "\(told)"
        self.port = port
        self.isTLS = place.isTLS
    }

    /// The address of a proxy that listens on several: the first plaintext address, which every program can use; if there
    /// is none, the first with TLS.
    ///
    /// - Throws: an error if no address can be named by a variable.
    init(_ places: [ListenAddress]) throws(Malformed) {
        let addresses = places.compactMap(ProxyAddress.init)
        guard let address = addresses.first(where: { !$0.isTLS }) ?? addresses.first else {
            let list = places.map(\.description).joined(separator: " ")
            throw Malformed(
                "the proxy listens on \(list), which no proxy variable can name; add an address with a port to "
                    + "`listen`, such as 127.0.0.1:3128")
        }
        self = address
    }

    var description: String { "\(self.isTLS ? "https" : "http")://\(self.host):\(self.port)" }
}
