// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// A place that clients connect to: an address and a port, in plaintext or over TLS, or a Unix socket; or a place that takes
/// connections to other destinations, which were redirected to it.
package struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
    package enum Place: Sendable, Hashable {
        /// A literal address, since a name could come to mean another interface without a change here. The port is 0…65535;
        /// with 0 the system picks a free one.
        case address(IPAddress, port: UInt16)
        /// The path of a socket, 1 to 107 bytes.
        case unix(String)
    }

    /// The way in which clients use the place.
    package enum Use: Sendable, Hashable, CaseIterable {
        /// They ask the proxy.
        case proxy
        /// They ask the proxy over TLS.
        case proxyOverTLS
        /// They believe that they are connected with their destination.
        case capture
    }

    /// 127.0.0.1:3128.
    package static let standard = ListenAddress(address: IPAddress(v4: 0x7F00_0001), port: 3128)

    /// 127.0.0.1:3129, for the admin endpoint of `serve` without a configuration file.
    package static let standardAdmin = ListenAddress(address: IPAddress(v4: 0x7F00_0001), port: 3129)

    /// The most bytes that fit into a socket's address (unix(7)) with the zero at its end.
    private static let longestPath = 107

    package let place: Place
    /// Always `proxy` for a Unix socket.
    package let use: Use
    /// True if clients speak TLS to it.
    package var isTLS: Bool { self.use == .proxyOverTLS }

    package init(address: IPAddress, port: UInt16, use: Use = .proxy) {
        self.place = .address(address, port: port)
        self.use = use
    }

    /// - Parameter path: at most 107 bytes.
    package init(unixSocket path: String) {
        self.place = .unix(path)
        self.use = .proxy
    }

    /// Reads `127.0.0.1:3128`, `[::1]:3128`, `https://127.0.0.1:3128`, `capture://127.0.0.1:3130` or `unix:PATH`; `--listen`
    /// takes the same forms.
    ///
    /// - Parameter resolve: turns a path as written into one that the process can open.
    package init(_ text: String, resolving resolve: (String) -> String = { $0 }) throws(Malformed) {
        if text.hasPrefix("unix:") {
            self.init(unixSocket: try Self.path(String(text.dropFirst(5)), resolve))
            return
        }
        let use = Use.allCases.first { text.hasPrefix($0.scheme) && !$0.scheme.isEmpty } ?? .proxy
        let rest = text.dropFirst(use.scheme.count)
        guard !rest.contains("://") else {
            throw Malformed(
                "a place is written ADDRESS:PORT, https://ADDRESS:PORT for TLS, capture://ADDRESS:PORT for redirected "
                    + "connections, or unix:PATH")
        }
        let (address, port) = try Self.addressAndPort(rest)
        self.init(address: address, port: port, use: use)
    }

    private static func path(_ text: String, _ resolve: (String) -> String) throws(Malformed) -> String {
        guard !text.isEmpty, !text.utf8.contains(0), !text.hasSuffix("/") else {
            throw Malformed("unix: is followed by the path of a socket, as in unix:/run/pintle.sock")
        }
        guard !text.hasPrefix("@") else {
            throw Malformed("an abstract socket has no file whose mode keeps others out; name a path, or ./\(text)")
        }
        let path = resolve(text)
        guard path.utf8.count <= Self.longestPath else {
            throw Malformed(
                "the path of a socket has at most \(Self.longestPath) bytes, and this one \(path.utf8.count)")
        }
        return path
    }

    private static func addressAndPort(_ text: Substring) throws(Malformed) -> (IPAddress, UInt16) {
        let form = "an address and a port, as in 127.0.0.1:3128 or [::1]:3128"
        guard let colon = text.lastIndex(of: ":") else { throw Malformed("not \(form)") }
        var host = text[..<colon]
        let digits = text[text.index(after: colon)...]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard host.contains(":") else { throw Malformed("only IPv6 addresses stand in brackets") }
        } else if host.contains(":") {
            throw Malformed("an IPv6 address stands in brackets, as in [::1]:3128")
        }
        guard let address = IPAddress(host) else {
            throw Malformed("not \(form); names are not resolved here")
        }
        guard !digits.isEmpty, digits.utf8.count <= 5, digits.utf8.allSatisfy(ASCII.isDigit),
            let port = UInt16(digits)
        else { throw Malformed("a port is a number from 0 (any free one) to 65535") }
        return (address, port)
    }

    /// True if other machines can reach it.
    package var isExposed: Bool {
        switch self.place {
        case .address(let address, _): !address.isLoopback
        case .unix: false
        }
    }

    /// True if the two cannot be open at once. Two listeners on port 0 get two ports.
    func collides(with other: ListenAddress) -> Bool {
        if case .address(_, port: 0) = self.place { return false }
        return self.place == other.place
    }

    /// True if connections to an authority end here, as far as is known without resolving names.
    package func isReached(by authority: Authority) -> Bool {
        guard case .address(let own, let port) = self.place, port == authority.port,
            let address = IPAddress(authority.host)
        else { return false }
        return Self.isReached(own, by: address)
    }

    /// True if connections to an address end at a listener on another one, as far as is known without the machine's addresses.
    package static func isReached(_ own: IPAddress, by address: IPAddress) -> Bool {
        // Linux connects the unspecified address to loopback.
        let isLoopback = address.isLoopback || address.isUnspecified
        return own == address || own.isUnspecified && isLoopback || own.isLoopback && address.isUnspecified
    }

    /// The form in the configuration file.
    package var description: String {
        switch self.place {
        case .unix(let path): "unix:\(path)"
        case .address(let address, let port):
            self.use.scheme + (address.family == .v6 ? "[\(address)]:\(port)" : "\(address):\(port)")
        }
    }
}

extension ListenAddress.Use {
    /// The beginning of the place in the configuration file.
    fileprivate var scheme: String {
        switch self {
        case .proxy: ""
        case .proxyOverTLS: "https://"
        case .capture: "capture://"
        }
    }
}
