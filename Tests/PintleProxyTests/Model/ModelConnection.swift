// SPDX-License-Identifier: Apache-2.0

import Glibc
import PintleTesting

/// A connection that an origin hands over.
final class ModelConnection {
    /// The descriptor that is handed over. Once it is closed, another connection may have its number.
    let near: Int32
    private let far: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
            throw TestFailure("no pair of sockets")
        }
        (self.near, self.far) = (ends[0], ends[1])
    }

    deinit { close(self.far) }

    /// True once the other side has closed it.
    var isClosed: Bool {
        var byte: UInt8 = 0
        return recv(self.far, &byte, 1, Int32(MSG_DONTWAIT)) == 0
    }

    func isOpen(as descriptor: Int32) -> Bool { descriptor == self.near && !self.isClosed }
}
