// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import NIOCore
internal import PintleSystem

extension SocketAddress {
    /// The address of a Unix socket. Its path need not be UTF-8 (``Swift/String/systemBytes``).
    ///
    /// - Throws: `SocketAddressError.unixDomainSocketPathTooLong` from 108 bytes on.
    package init(pathOfSocket path: String) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = path.systemBytes
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { place in
            // A zero byte ends the path.
            guard bytes.count < place.count else { return false }
            place.copyBytes(from: bytes)
            return true
        }
        guard fits else { throw SocketAddressError.unixDomainSocketPathTooLong }
        self.init(address)
    }

    /// The path of a Unix socket, empty if it has no name or an abstract one; nil for other addresses.
    package var pathOfSocket: String? {
        guard case .unixDomainSocket = self else { return nil }
        return self.withSockAddr { address, _ in
            address.withMemoryRebound(to: sockaddr_un.self, capacity: 1) { address in
                withUnsafeBytes(of: address.pointee.sun_path) { String(systemBytes: $0.prefix { $0 != 0 }) }
            }
        }
    }
}
