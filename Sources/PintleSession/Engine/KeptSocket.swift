// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// What is done to the socket of a connection that is kept for later requests, past libcurl.
///
/// libcurl 7.88 only looks whether such a connection was closed. Bytes that wait there, before any request was sent, it
/// takes for the answer to the next one: whoever sends that request would get what an origin, or somebody who can write
/// into one of its answers, has left for it (RFC 9112 §9.2, §11.1).
enum KeptSocket {
    /// Whether bytes have come that nobody has read.
    static func hasBytes(_ socket: Int32) -> Bool {
        var byte: UInt8 = 0
        return recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0
    }

    /// The socket's own port.
    static func port(of socket: Int32) -> UInt16? {
        var address = sockaddr_storage()
        var count = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &count) }
        }
        guard code == 0 else { return nil }
        // The port has one place in the addresses of both families.
        return withUnsafeBytes(of: &address) { UInt16(bigEndian: $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self)) }
    }

    /// Makes the connection look closed: nothing can be sent over it any more, and nothing is there to be read. libcurl
    /// makes another one then.
    static func spoil(_ socket: Int32) {
        shutdown(socket, Int32(SHUT_RDWR))
        withUnsafeTemporaryAllocation(byteCount: 16 * 1024, alignment: 1) { space in
            // As much as a receive buffer holds at most; were it more, the request could not be sent and would be sent again.
            for _ in 0..<1024 where recv(socket, space.baseAddress, space.count, Int32(MSG_DONTWAIT)) <= 0 {
                return
            }
        }
    }
}
