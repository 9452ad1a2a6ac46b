// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage
internal import PintleSession

extension ByteBuffer {
    /// The most bytes that are written in addition to the fields and the reason phrase.
    private static var mostAround: Int { 128 }

    /// Writes a head, with framing and connection fields.
    mutating func writeHead(_ head: ResponseHead, framing: ResponseFraming, keepAlive: Bool, minorVersion: UInt8) {
        self.writeHead(atMost: head.reason.utf8.count + head.fields.byteCount + Self.mostAround) { bytes in
            bytes.write(statusLineOf: head)
            bytes.write(head.fields)
            switch framing {
            case .none(let wouldBe): if let wouldBe { bytes.write(contentLength: wouldBe) }
            case .length(let length): bytes.write(contentLength: length)
            case .chunked: bytes.write("Transfer-Encoding: chunked\r\n")
            case .untilClose: break
            }
            if !keepAlive {
                bytes.write("Connection: close\r\n")
            } else if minorVersion == 0 {
                bytes.write("Connection: keep-alive\r\n")
            }
            bytes.write("\r\n")
        }
    }

    /// Writes an interim response, which has neither framing nor connection fields.
    mutating func writeInterim(_ head: ResponseHead) {
        self.writeHead(atMost: head.reason.utf8.count + head.fields.byteCount + Self.mostAround) { bytes in
            bytes.write(statusLineOf: head)
            bytes.write(head.fields)
            bytes.write("\r\n")
        }
    }
}

extension HeadBytes {
    fileprivate mutating func write(statusLineOf head: borrowing ResponseHead) {
        self.write("HTTP/1.1 ")
        self.write(decimal: UInt64(head.status))
        self.write(" ")
        self.write(text: head.reason)
        self.write("\r\n")
    }
}
