// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The fields that tell an origin the client of a request, and the URL that it has asked for: `request.forwarded`.
package struct ForwardedRules: Sendable, Equatable {
    /// The fields that are used.
    package enum Form: String, Sendable, CaseIterable {
        /// None is added. Those that a client sends pass like any other field.
        case off
        /// X-Forwarded-For, -Host and -Proto.
        case xForwarded = "x_forwarded"
        /// Forwarded (RFC 7239).
        case rfc7239
    }

    /// Default `off`: a proxy does not tell origins about its clients.
    package var form = Form.off
    /// The clients whose own fields of this kind are believed, and added to. Default none.
    package var trustedProxies: [CIDR] = [] {
        didSet {
            self.trusted = NetworkTable()
            for (number, network) in self.trustedProxies.enumerated() { self.trusted.insert(network, number: number) }
        }
    }
    /// The networks of these clients, found by hashing.
    private var trusted = NetworkTable()

    package init() {}

    /// Replaces the fields of the client, unless it is trusted, by those for it.
    ///
    /// - Parameters:
    ///   - scheme: the scheme by which the client made its request.
    ///   - host: the host and port by which it did, as in a Host field.
    func apply(to fields: inout Fields, for client: RequestClient, scheme: Scheme, host: String) {
        let isTrusted = client.address.map { self.trusted.first(containing: $0) != nil } ?? false
        let keepsOwn = { (form: Form) in isTrusted && self.form == form }
        switch self.form {
        case .off: return
        case .xForwarded, .rfc7239:
            if !keepsOwn(.rfc7239) { fields.remove(.forwarded) }
            // A proxy that spells them with dashes passes those with underscores on for its client.
            // All at once: a client may send as many as a head has room for.
            let unwanted = Self.unofficialNames(in: fields).filter { !keepsOwn(.xForwarded) || $0.contains("_") }
            if !unwanted.isEmpty {
                fields.removeAll { _, name in
                    unwanted.contains(String(decoding: name.map(ASCII.lowercased), as: UTF8.self))
                }
            }
        }
        guard self.form == .xForwarded else {
            let address = client.address.map { $0.family == .v4 ? "\($0)" : "\"[\($0)]\"" } ?? "unknown"
            let quoted = FieldSyntax.isName(host) ? host : "\"\(host)\""
            return fields.append("Forwarded", "for=\(address);host=\(quoted);proto=\(scheme.rawValue)")
        }
        if let address = client.address {
            fields.set(Self.forName, (fields.values(of: Self.forName) + ["\(address)"]).joined(separator: ", "))
        }
        for (name, value) in [("X-Forwarded-Host", host), ("X-Forwarded-Proto", scheme.rawValue)]
        where !fields.contains(name) {
            fields.append(name, value)
        }
    }

    private static let forName = "X-Forwarded-For"

    /// The names of the fields that programs believe although no standard has them. CGI (RFC 3875 §4.1.18), and WSGI with it, makes
    /// `_` of each `-`, so that such programs read `X_Forwarded_For` as the same field.
    private static func unofficialNames(in fields: Fields) -> Set<String> {
        Set(
            fields.pairs.map { $0.name.lowercased() }.filter { name in
                let dashed = name.replacing("_", with: "-")
                return dashed.hasPrefix("x-forwarded-") || dashed == "x-real-ip"
            })
    }
}

/// The client of a request, as far as an origin may be told about it.
package struct RequestClient: Sendable, Equatable {
    /// Nil for a client without an address, as over a Unix socket.
    package let address: IPAddress?
    /// True if it speaks TLS with the proxy.
    package let isSecure: Bool

    package init(address: IPAddress?, isSecure: Bool) { (self.address, self.isSecure) = (address, isSecure) }

    /// A program on this machine, for requests that are only tried.
    package static let local = RequestClient(address: IPAddress(v4: 0x7F00_0001), isSecure: false)
}
