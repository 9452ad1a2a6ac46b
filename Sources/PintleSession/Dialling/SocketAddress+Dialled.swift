// SPDX-License-Identifier: Apache-2.0

internal import CPintleCurl
internal import Glibc
internal import NIOCore

extension SocketAddress {
    /// The address that libcurl is about to dial, if it is IPv4 or IPv6.
    init?(dialled address: UnsafeMutablePointer<curl_sockaddr>) {
        // `addr` is only the beginning of the address, which must be read in place, `addrlen` bytes long.
        guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return nil }
        let place = UnsafeRawPointer(address) + offset
        switch address.pointee.family {
        case AF_INET: self.init(place.loadUnaligned(as: sockaddr_in.self))
        case AF_INET6: self.init(place.loadUnaligned(as: sockaddr_in6.self))
        default: return nil
        }
    }
}
