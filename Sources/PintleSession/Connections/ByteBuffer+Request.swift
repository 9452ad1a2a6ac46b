// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage

extension ByteBuffer {
    /// Writes the head of a request (RFC 9112 §3).
    ///
    /// - Parameter forwarder: the proxy that gets the request; nil if the origin does.
    mutating func writeRequest(_ asked: AskedRequest, to forwarder: ProxyServer?) {
        let authorization = asked.request.fields.contains(.proxyAuthorization) ? nil : forwarder?.authorization
        var limit = asked.request.method.utf8.count + asked.request.path.utf8.count + asked.request.fields.byteCount
        limit += 2 * asked.request.authority.host.utf8.count + (authorization?.utf8.count ?? 0)
        limit += (asked.request.upgrade?.utf8.count ?? 0) + 256
        self.writeHead(atMost: limit) { bytes in
            bytes.write(text: asked.request.method)
            if forwarder == nil {
                bytes.write(" ")
            } else {
                bytes.write(" http://")
                bytes.write(asked.request.authority, for: asked.request.scheme)
            }
            bytes.write(text: asked.request.path)
            bytes.write(" HTTP/1.1\r\n")
            if !asked.request.fields.contains(.host) {
                bytes.write("Host: ")
                bytes.write(asked.request.authority, for: asked.request.scheme)
                bytes.write("\r\n")
            }
            if let authorization {
                bytes.write("Proxy-Authorization: ")
                bytes.write(text: authorization)
                bytes.write("\r\n")
            }
            if case .stream(nil) = asked.request.body { bytes.write("Transfer-Encoding: chunked\r\n") }
            bytes.write(asked.request.fields)
            switch asked.request.body {
            case .none, .stream(nil): break
            case .bytes(let content): bytes.write(contentLength: UInt64(content.readableBytes))
            case .stream(.some(let length)): bytes.write(contentLength: length)
            }
            if let upgrade = asked.request.upgrade {
                bytes.write("Connection: Upgrade\r\nUpgrade: ")
                bytes.write(text: upgrade)
                bytes.write("\r\n")
            }
            bytes.write("\r\n")
        }
    }
}

extension HeadBytes {
    /// Writes an authority in the form of ``Authority/description(for:)``.
    fileprivate mutating func write(_ authority: Authority, for scheme: Scheme) {
        let isIPv6 = authority.isIPv6
        if isIPv6 { self.write("[") }
        self.write(text: authority.host)
        if isIPv6 { self.write("]") }
        if authority.port != scheme.defaultPort {
            self.write(":")
            self.write(decimal: UInt64(authority.port))
        }
    }
}
