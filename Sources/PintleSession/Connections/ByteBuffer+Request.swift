// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage

extension ByteBuffer {
    /// Writes the head of a request (RFC 9112 §3).
    ///
    /// - Parameter forwarder: the proxy that it goes to.
    mutating func writeRequest(_ asked: Transfer.Asked, to forwarder: ProxyServer?) {
        let host = asked.request.authority.description(for: asked.request.scheme)
        self.writeString(asked.request.method)
        if forwarder != nil {
            self.writeStaticString(" http://")
            self.writeString(host)
        } else {
            self.writeStaticString(" ")
        }
        self.writeString(asked.request.path)
        self.writeStaticString(" HTTP/1.1\r\n")
        if !asked.request.fields.contains(.host) {
            self.writeStaticString("Host: ")
            self.writeString(host)
            self.writeStaticString("\r\n")
        }
        if let authorization = forwarder?.authorization, !asked.request.fields.contains(.proxyAuthorization) {
            self.writeStaticString("Proxy-Authorization: ")
            self.writeString(authorization)
            self.writeStaticString("\r\n")
        }
        if case .stream(nil) = asked.request.body { self.writeStaticString("Transfer-Encoding: chunked\r\n") }
        asked.request.fields.forEachRun { self.writeBytes($0) }
        switch asked.request.body {
        case .none, .stream(nil): break
        case .bytes(let bytes): self.writeContentLength(UInt64(bytes.readableBytes))
        case .stream(.some(let length)): self.writeContentLength(length)
        }
        if let upgrade = asked.request.upgrade {
            self.writeStaticString("Connection: Upgrade\r\nUpgrade: ")
            self.writeString(upgrade)
            self.writeStaticString("\r\n")
        }
        self.writeStaticString("\r\n")
    }
}
