// SPDX-License-Identifier: Apache-2.0

// Either module may provide the constants of sockets, as libcurl's headers import them too.
internal import CPintleCurl
internal import Glibc

/// The options of sockets that are dialled without libcurl. libcurl sets the same ones on its own.
enum DialledSocket {
    /// The time after which a silent peer is asked if it is there, and the time between two such questions, in seconds: those of
    /// libcurl. Linux would wait for two hours, and devices on the way forget a connection after some minutes.
    private static let probing: Int32 = 60

    /// Sets the options. If the kernel refuses one, the connection is only slower, or its breakage is noticed later.
    static func prepare(_ descriptor: Int32) {
        // Small writes must leave at once instead of being joined (RFC 896).
        Self.set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        Self.set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1)
        Self.set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPIDLE, Self.probing)
        Self.set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPINTVL, Self.probing)
    }

    private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}
