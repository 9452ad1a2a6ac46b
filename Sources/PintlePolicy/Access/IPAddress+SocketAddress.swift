// SPDX-License-Identifier: Apache-2.0

package import NIOCore
package import PintleMessage

extension IPAddress {
    /// Takes the IP address of a socket's address; nil for another family.
    package init?(_ address: SocketAddress) {
        let ip = address.withSockAddr { IPAddress(socketAddress: UnsafeRawBufferPointer(start: $0, count: $1)) }
        guard let ip else { return nil }
        self = ip
    }
}
