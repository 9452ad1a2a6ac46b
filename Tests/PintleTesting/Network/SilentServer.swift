// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A UDP socket that is never read.
package final class SilentServer: Sendable {
    private let descriptor: Int32

    init(address: String, port: UInt16) throws {
        self.descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = port.bigEndian
        inet_pton(AF_INET, address, &place.sin_addr)
        let code = withUnsafePointer(to: &place) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(self.descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw TestFailure("bind to \(address):\(port): errno \(errno)") }
    }

    deinit { close(self.descriptor) }
}
