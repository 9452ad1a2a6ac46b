// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// An address and a port to listen on.
package struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// 127.0.0.1:3128.
    package static let standard = ListenAddress(address: IPAddress(v4: 0x7F00_0001), port: 3128)

    /// A literal address: a name could come to mean another interface without a change here.
    package let address: IPAddress
    /// 0…65535; 0 lets the system pick a free port.
    package let port: UInt16

    package init(address: IPAddress, port: UInt16) {
        self.address = address
        self.port = port
    }

    /// Reads `127.0.0.1:3128` or `[::1]:3128`; also what `--listen` takes.
    package init(_ text: some StringProtocol) throws(Malformed) {
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
        self.init(address: address, port: port)
    }

    /// Whether connections to an authority end here, as far as can be told without resolving names.
    package func isReached(by authority: Authority) -> Bool {
        guard self.port == authority.port, let address = IPAddress(authority.host) else { return false }
        return address == self.address || self.address.isUnspecified && address.isLoopback
    }

    /// As it is written in the configuration.
    package var description: String {
        self.address.family == .v6 ? "[\(self.address)]:\(self.port)" : "\(self.address):\(self.port)"
    }
}
