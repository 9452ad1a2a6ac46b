// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage

extension ByteBuffer {
    /// Writes the head of a request (RFC 9112 §3).
    ///
    /// - Parameter forwarder: the proxy that it goes to.
    mutating func writeRequest(_ request: TransferRequest, to forwarder: ProxyServer?) {
        let host = request.authority.description(for: request.scheme)
        self.writeString(request.method)
        if forwarder != nil {
            self.writeStaticString(" http://")
            self.writeString(host)
        } else {
            self.writeStaticString(" ")
        }
        self.writeString(request.path)
        self.writeStaticString(" HTTP/1.1\r\n")
        if !request.fields.contains(.host) {
            self.writeStaticString("Host: ")
            self.writeString(host)
            self.writeStaticString("\r\n")
        }
        if let authorization = forwarder?.authorization, !request.fields.contains(.proxyAuthorization) {
            self.writeStaticString("Proxy-Authorization: ")
            self.writeString(authorization)
            self.writeStaticString("\r\n")
        }
        if case .stream(nil) = request.body { self.writeStaticString("Transfer-Encoding: chunked\r\n") }
        request.fields.forEachRun { self.writeBytes($0) }
        switch request.body {
        case .none, .stream(nil): break
        case .bytes(let bytes): self.writeContentLength(UInt64(bytes.readableBytes))
        case .stream(.some(let length)): self.writeContentLength(length)
        }
        if let upgrade = request.upgrade {
            self.writeStaticString("Connection: Upgrade\r\nUpgrade: ")
            self.writeString(upgrade)
            self.writeStaticString("\r\n")
        }
        self.writeStaticString("\r\n")
    }
}
