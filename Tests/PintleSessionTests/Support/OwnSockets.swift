// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// What the kernel knows of this process's sockets.
enum OwnSockets {
    /// How many descriptors are open.
    static var descriptorCount: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    }

    /// The type-of-service field of the packets that go to `port` of this machine; nil without a connection there.
    static func typeOfService(towards port: Int) -> Int32? {
        for descriptor in Self.descriptors where Self.peerPort(of: descriptor) == port {
            var field: Int32 = 0
            var size = socklen_t(MemoryLayout<Int32>.size)
            if getsockopt(descriptor, Int32(IPPROTO_IP), IP_TOS, &field, &size) == 0 { return field }
        }
        return nil
    }

    /// How many connections there are to `port` of this machine.
    static func count(towards port: Int) -> Int { Self.descriptors.count { Self.peerPort(of: $0) == port } }

    private static var descriptors: [Int32] {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.compactMap { Int32($0) } ?? []
    }

    private static func peerPort(of descriptor: Int32) -> Int? {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
        }
        guard code == 0, address.sin_family == sa_family_t(AF_INET) else { return nil }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
