// SPDX-License-Identifier: Apache-2.0

/// A whole response of any status.
package func answer(_ status: Int, _ fields: [String] = [], _ body: String = "") -> String {
    let lines = fields.map { "\($0)\r\n" }.joined()
    return "HTTP/1.1 \(status) Said\r\nContent-Length: \(body.utf8.count)\r\n\(lines)\r\n\(body)"
}

/// An origin that answers each request as `script` says, on connections that stay open.
package func origin(_ script: @escaping @Sendable (Message) throws -> String) throws -> RawOrigin {
    try RawOrigin { connection in
        while true { try connection.send(script(connection.readRequest())) }
    }
}

extension Array where Element == UInt8 {
    /// Bytes that no place confuses with another.
    package static func pattern(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    }
}
