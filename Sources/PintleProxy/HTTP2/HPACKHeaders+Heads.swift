// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHPACK
internal import PintleMessage
internal import PintleSession

// Heads of the server's side as HTTP/2 has them (RFC 9113 §8.2, §8.3).
extension HPACKHeaders {
    /// The header section of a response. Fields of a connection, which HTTP/2 has not, are left out.
    init(_ head: ResponseHead, length: UInt64?) {
        var headers: [(String, String)] = [(":status", String(head.status))]
        head.fields.forEachLine { name, line in
            switch name {
            case .connection, .keepAlive, .proxyConnection, .transferEncoding, .upgrade: return
            default: headers.append(Self.split(line))
            }
        }
        if let length { headers.append(("content-length", String(length))) }
        self.init(headers)
    }

    /// The head of a request, read as if it had come in HTTP/1.1: by the one reader whose strictness everything behind it
    /// relies on. What HTTP/1.1 could not say, or could be read in two ways there, is refused here.
    ///
    /// - Parameter scheme: that of the connection.
    /// - Throws: ``WireError``, also for what RFC 9113 §8.3.1 calls malformed.
    func requestHead(_ scheme: Scheme, within limits: HeadLimits) throws(WireError) -> RequestHead {
        var pseudo: [String: String] = [:]
        var lines: [UInt8] = []
        var cookies: [String] = []
        var host: String?
        for (name, value, _) in self {
            guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                throw WireError(.malformed, "a field has a control character")
            }
            if name.hasPrefix(":") {
                guard pseudo.updateValue(value, forKey: name) == nil else {
                    throw WireError(.malformed, "\(name) is there twice")
                }
                continue
            }
            guard !name.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F || 0x41...0x5A ~= $0 || $0 == 0x3A }) else {
                throw WireError(.malformed, "a field name has a character that HTTP/2 forbids")
            }
            switch name {
            case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade":
                throw WireError(.malformed, "it has \(name), which HTTP/2 forbids")
            case "te" where value.lowercased() != "trailers":
                throw WireError(.malformed, "HTTP/2 has no TE but trailers")
            case "host":
                guard host == nil else { throw WireError(.malformed, "there are two Hosts") }
                host = value
            // HTTP/1.1 has one line for all crumbs (§8.2.3).
            case "cookie": cookies.append(value)
            default: lines += Array("\(name): \(value)\r\n".utf8)
            }
        }
        if !cookies.isEmpty { lines += Array("cookie: \(cookies.joined(separator: "; "))\r\n".utf8) }
        let (method, path, authority) = try Self.target(pseudo, host, scheme)
        let text = Array("\(method) \(path) HTTP/1.1\r\nhost: \(authority)\r\n".utf8) + lines + [0x0D, 0x0A]
        var parser = RequestParser(limits: limits)
        var result: Result<(head: RequestHead, length: Int)?, WireError> = .success(nil)
        text.withUnsafeBytes { bytes in
            result = Result { () throws(WireError) in try parser.parse(bytes) }
        }
        guard let (head, count) = try result.get(), count == text.count else {
            throw WireError(.malformed, "its head ends too early")
        }
        return head
    }

    private static func target(
        _ pseudo: [String: String], _ host: String?, _ scheme: Scheme
    ) throws(WireError) -> (method: String, path: String, authority: String) {
        let known: Set<String> = [":method", ":scheme", ":authority", ":path"]
        guard pseudo.keys.allSatisfy(known.contains), let method = pseudo[":method"] else {
            throw WireError(.malformed, "its pseudo fields are not those of a request")
        }
        guard method != "CONNECT" else { throw WireError(.malformed, "a tunnel has no tunnel inside") }
        guard let path = pseudo[":path"], !path.isEmpty, path.hasPrefix("/") || path == "*" && method == "OPTIONS"
        else {
            throw WireError(.malformed, "its :path is no path")
        }
        guard pseudo[":scheme"] == scheme.rawValue else {
            throw WireError(.malformed, "its :scheme is not the connection's, \(scheme.rawValue)")
        }
        let authority = pseudo[":authority"]
        if let authority, let host, authority.lowercased() != host.lowercased() {
            throw WireError(.malformed, "its :authority and its Host do not agree")
        }
        guard let named = authority ?? host, !named.isEmpty else {
            throw WireError(.malformed, "it has neither :authority nor Host")
        }
        return (method, path, named)
    }
}
