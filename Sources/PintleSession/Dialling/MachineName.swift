// SPDX-License-Identifier: Apache-2.0

internal import CPintleCurl
internal import Glibc
internal import NIOCore

/// The name of this machine for programs in a network of their own (`pintle run --isolate`), whose localhost is another one.
enum MachineName {
    /// True if a host is this machine's loopback by this name.
    static func matches(_ host: String) -> Bool { host == "host.pintle.internal" && !Self.isForeign }

    /// True if this process is itself in such a network: then the name is that of the machine outside, and the resolver there
    /// knows it. Only such networks have the address 198.18.0.1 (`CPintleProcess/network.h`), and only own addresses can be
    /// bound.
    private static let isForeign: Bool = {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        guard let address = try? SocketAddress(ipAddress: "198.18.0.1", port: 0) else { return false }
        return address.withSockAddr { bind(descriptor, $0, socklen_t($1)) } == 0
    }()
}
