// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A connection whose second end becomes ready with urgent data, as a descriptor of PSI does.
package struct UrgentPair {
    package let sender: Int32
    package let receiver: Int32

    package init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        self.sender = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let sender = self.sender
        let isMade = withUnsafeMutablePointer(to: &address) { place in
            place.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 1) == 0
                    && getsockname(listener, address, &length) == 0 && connect(sender, address, length) == 0
            }
        }
        self.receiver = accept(listener, nil, nil)
        guard isMade, self.receiver >= 0 else { throw TestFailure("two sockets cannot be connected") }
    }

    package func send() { _ = Glibc.send(self.sender, "!", 1, Int32(MSG_OOB)) }
}
