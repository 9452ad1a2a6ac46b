// SPDX-License-Identifier: Apache-2.0

package import PintleTrust

/// Answers of a server of TLS 1.3 to a hello that offers groups without shares.
package enum PostQuantumAnswer {
    private static let random: [UInt8] = [
        0xCF, 0x21, 0xAD, 0x74, 0xE5, 0x9A, 0x61, 0x11, 0xBE, 0x1D, 0x8C, 0x02, 0x1E, 0x65, 0xB8, 0x91,
        0xC2, 0xA2, 0x11, 0x16, 0x7A, 0xBB, 0x8C, 0x5E, 0x07, 0x9E, 0x09, 0xE2, 0xC8, 0xA8, 0x33, 0x9C,
    ]

    /// Reads a ClientHello in one record from a connection, and returns the record of a HelloRetryRequest for a group.
    package static func retry(for group: PostQuantumGroup, to stream: SocketStream) throws -> [UInt8] {
        let head = try stream.read(5)
        return self.retry(for: group, hello: try stream.read(Int(head[3]) << 8 | Int(head[4])))
    }

    /// Returns the record of a HelloRetryRequest.
    ///
    /// - Parameter hello: the message that it answers, with a session id of 32 bytes.
    package static func retry(for group: PostQuantumGroup, hello: [UInt8]) -> [UInt8] {
        let session = hello[(4 + 2 + 32 + 1)...].prefix(32)
        let extensions =
            HelloBytes.extension(43, [3, 4])
            + HelloBytes.extension(51, [UInt8(group.rawValue >> 8), UInt8(group.rawValue & 0xFF)])
        let body = [3, 3] + self.random + [32] + session + [0x13, 1, 0, 0, UInt8(extensions.count)] + extensions
        return HelloBytes.record(HelloBytes.message(body, type: 2))
    }

    /// True if a hello has an empty list of shares, which must be its last extension.
    package static func hasNoShare(_ hello: [UInt8]) -> Bool {
        hello.suffix(6).elementsEqual(HelloBytes.extension(51, [0, 0]))
    }

    /// True if a hello offers a group. Its list of groups must be short.
    package static func offers(_ group: PostQuantumGroup, in hello: [UInt8]) -> Bool {
        // The extension has its type, the lengths of itself and of the list, and then the numbers.
        for place in hello.indices.dropFirst(76) where hello[place...].starts(with: [0, 10, 0]) {
            guard place + 6 <= hello.count, hello[place + 3] == hello[place + 5] + 2 else { continue }
            let list = hello[(place + 6)...].prefix(Int(hello[place + 5]))
            let number = [UInt8(group.rawValue >> 8), UInt8(group.rawValue & 0xFF)]
            return stride(from: list.startIndex, to: list.endIndex, by: 2).contains { list[$0...].starts(with: number) }
        }
        return false
    }
}
