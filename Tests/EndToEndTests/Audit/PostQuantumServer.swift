// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust

/// A server of TLS 1.3 that supports post-quantum groups, as far as a client without them can tell: it asks for a share of
/// one if a hello offers nothing else, and makes other handshakes with OpenSSL.
final class PostQuantumServer: Sendable {
    var port: Int { self.origin.port }
    private let origin: RawOrigin

    /// - Parameter groups: the groups, in the order of its preference.
    init(_ identity: TestIdentity, groups: [PostQuantumGroup]) throws {
        let side = try TLSServerSide(identity)
        self.origin = try RawOrigin { connection in
            let stream = connection.stream
            while stream.unread.count < 5 || stream.unread.count < 5 + Self.length(of: stream.unread) {
                guard try stream.fill() else { return }
            }
            let hello = Array(stream.unread.dropFirst(5))
            guard PostQuantumAnswer.hasNoShare(hello) else {
                try stream.secure(as: side)
                _ = try connection.waitForEnd()
                return
            }
            if let group = groups.first(where: { PostQuantumAnswer.offers($0, in: hello) }) {
                try stream.send(PostQuantumAnswer.retry(for: group, hello: hello))
            } else {
                try stream.send([21, 3, 3, 0, 2, 2, 40])
            }
            _ = try connection.waitForEnd()
        }
    }

    private static func length(of record: [UInt8]) -> Int { Int(record[3]) << 8 | Int(record[4]) }
}
