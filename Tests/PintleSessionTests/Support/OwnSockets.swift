// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// The kernel's knowledge of this process's sockets.
enum OwnSockets {
    /// The number of open descriptors.
    static var descriptorCount: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    }

    /// The type-of-service field of the packets that go to `port` of this machine; nil without a connection there.
    static func typeOfService(towards port: Int) -> Int32? { Self.option(IP_TOS, of: Int32(IPPROTO_IP), towards: port) }

    /// An option of the socket that is connected to `port` of this machine; nil without a connection there.
    static func option(_ name: Int32, of level: Int32, towards port: Int) -> Int32? {
        for descriptor in Self.descriptors where Self.peerPort(of: descriptor) == port {
            var value: Int32 = 0
            var size = socklen_t(MemoryLayout<Int32>.size)
            if getsockopt(descriptor, level, name, &value, &size) == 0 { return value }
        }
        return nil
    }

    /// Returns the number of connections to `port` of this machine.
    static func count(towards port: Int) -> Int { Self.descriptors.count { Self.peerPort(of: $0) == port } }

    private static var descriptors: [Int32] {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.compactMap { Int32($0) } ?? []
    }

    private static func peerPort(of descriptor: Int32) -> Int? {
        // Raw bytes are used, since the imports of other files decide which module the members of `sockaddr_in` belong to.
        var address = [UInt8](repeating: 0, count: 128)
        var length = socklen_t(address.count)
        let code = address.withUnsafeMutableBytes { place in
            place.withMemoryRebound(to: sockaddr.self) { getpeername(descriptor, $0.baseAddress, &length) }
        }
        guard code == 0, Int32(address[0]) | Int32(address[1]) << 8 == AF_INET else { return nil }
        return Int(address[2]) << 8 | Int(address[3])
    }
}
