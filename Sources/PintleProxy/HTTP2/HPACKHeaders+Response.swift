// SPDX-License-Identifier: Apache-2.0

internal import NIOHPACK
internal import PintleMessage
internal import PintleSession

// Heads of responses in HTTP/2 (RFC 9113 §8.2, §8.3.2).
extension HPACKHeaders {
    /// The header section of a response, without connection-specific fields, which HTTP/2 does not have.
    init(_ head: ResponseHead, length: UInt64?) {
        self.init([(":status", String(head.status))])
        self.reserveCapacity(head.fields.count + 2)
        head.fields.forEachLine { name, line in
            switch name {
            case .connection, .keepAlive, .proxyConnection, .transferEncoding, .upgrade: return
            default: self.add(line: line)
            }
        }
        if let length { self.add(name: "content-length", value: String(length)) }
    }
}
