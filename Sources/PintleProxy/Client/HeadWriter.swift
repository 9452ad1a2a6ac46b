// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage
internal import PintleSession

/// How a response is framed for the client; written anew, never copied from the origin.
enum ResponseFraming: Equatable {
    /// The response has no body by its nature; a Content-Length only says what it would have been.
    case none(wouldBe: UInt64?)
    case length(UInt64)
    case chunked
    /// For HTTP/1.0 clients: the end of the connection is the end of the body.
    case untilClose

    /// The framing for a response to `method` from a client of HTTP/1.`minorVersion`.
    ///
    /// - Parameter length: of the body, or of the one that there would be.
    init(method: String, minorVersion: UInt8, head: ResponseHead, length: UInt64?) {
        if head.forbidsBody(to: method) {
            // 1xx and 204 must not have one at all (RFC 9110 §8.6).
            self = .none(wouldBe: head.status == 204 || head.status < 200 ? nil : length)
        } else if let length {
            self = .length(length)
        } else {
            self = minorVersion == 0 ? .untilClose : .chunked
        }
    }
}

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
