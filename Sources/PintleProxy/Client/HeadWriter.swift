// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage
internal import PintleSession

extension ByteBuffer {
    /// Writes a head, with framing and connection fields.
    mutating func writeHead(_ head: ResponseHead, framing: ResponseFraming, keepAlive: Bool, minorVersion: UInt8) {
        self.writeStatusLine(head)
        head.fields.forEachRun { self.writeBytes($0) }
        switch framing {
        case .none(let wouldBe): if let wouldBe { self.writeContentLength(wouldBe) }
        case .length(let length): self.writeContentLength(length)
        case .chunked: self.writeStaticString("Transfer-Encoding: chunked\r\n")
        case .untilClose: break
        }
        if !keepAlive {
            self.writeStaticString("Connection: close\r\n")
        } else if minorVersion == 0 {
            self.writeStaticString("Connection: keep-alive\r\n")
        }
        self.writeStaticString("\r\n")
    }

    /// Writes an interim response, which has no body and no say about the connection.
    mutating func writeInterim(_ head: ResponseHead) {
        self.writeStatusLine(head)
        head.fields.forEachRun { self.writeBytes($0) }
        self.writeStaticString("\r\n")
    }

    private mutating func writeStatusLine(_ head: ResponseHead) {
        self.writeStaticString("HTTP/1.1 ")
        self.writeDecimal(UInt64(head.status))
        self.writeStaticString(" ")
        self.writeString(head.reason)
        self.writeStaticString("\r\n")
    }
}
