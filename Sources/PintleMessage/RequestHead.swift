// SPDX-License-Identifier: Apache-2.0

/// A request without its body: method, target, version and fields.
public struct RequestHead: Sendable, Equatable {
    /// A case-sensitive token (RFC 9110 §9.1).
    public var method: String
    /// The target of the request.
    public var target: RequestTarget
    /// The digit after `HTTP/1.`: 0 or 1.
    public var minorVersion: UInt8
    /// The header section.
    public var fields: Fields
    /// True if the target had one of WebSocket's schemes (RFC 6455 §3): `ws`, stored as `http`, or `wss`, stored as
    /// `https`. Some clients put the whole URL that they were given into a request to a proxy.
    package var hasWebSocketScheme = false
    /// True if the request came as an HTTP/2 stream; its fields were read as if they were those of HTTP/1.1.
    package var cameByHTTP2 = false
    /// The HTTP version of the received request in the spelling of Via: `1.0`, `1.1` or `2`.
    package var version: String { self.cameByHTTP2 ? "2" : self.minorVersion == 0 ? "1.0" : "1.1" }

    /// Makes a head.
    public init(method: String, target: RequestTarget, minorVersion: UInt8 = 1, fields: Fields = Fields()) {
        self.method = method
        self.target = target
        self.minorVersion = minorVersion
        self.fields = fields
    }
}

extension RequestHead {
    /// True if a request with this method changes nothing at the origin (RFC 9110 §9.2.1).
    package static func isSafe(_ method: String) -> Bool {
        switch method {
        case "GET", "HEAD", "OPTIONS", "TRACE": true
        default: false
        }
    }

    /// True if a request with this method may be sent twice with the same effect as once (RFC 9110 §9.2.2).
    package static func isIdempotent(_ method: String) -> Bool {
        self.isSafe(method) || method == "PUT" || method == "DELETE"
    }
}

/// The four forms of a request target (RFC 9112 §3.2).
public enum RequestTarget: Sendable, Equatable {
    /// `/path?query`, to a gateway or an origin server.
    case origin(path: String)
    /// `http://host:port/path?query`, to a proxy. The path is never empty.
    case absolute(scheme: Scheme, authority: Authority, path: String)
    /// `host:port`, for CONNECT only.
    case authority(Authority)
    /// `*`, for OPTIONS only.
    case asterisk

    /// The path and query of origin and absolute form, else nil.
    public var path: String? {
        switch self {
        case .origin(let path), .absolute(_, _, let path): path
        case .authority, .asterisk: nil
        }
    }

    /// The target for a log; nil for an asterisk.
    package var url: String? {
        switch self {
        case .origin(let path): path
        case .absolute(let scheme, let authority, let path):
            "\(scheme.rawValue)://\(authority.description(for: scheme))\(path)"
        case .authority(let authority): authority.description
        case .asterisk: nil
        }
    }

    /// The host and port in the target; nil if it has none.
    package var host: String? {
        switch self {
        case .absolute(_, let authority, _), .authority(let authority): authority.description
        case .origin, .asterisk: nil
        }
    }
}

/// A response without its body: status, reason and fields.
public struct ResponseHead: Sendable, Equatable {
    /// From 100 to 999.
    public var status: UInt16
    /// The reason phrase as the origin sent it; may be empty.
    public var reason: String
    /// The header section.
    public var fields: Fields
    /// True if an HTTP/2 response ends with this head, which declares no length although the response could have content.
    package var endsUnmeasured = false

    /// Makes a head.
    public init(status: UInt16, reason: String = "", fields: Fields = Fields()) {
        self.status = status
        self.reason = reason
        self.fields = fields
    }

    /// True if a response with this status to `method` has no body, whatever its fields say (RFC 9112 §6.3).
    public func forbidsBody(to method: String) -> Bool {
        method == "HEAD" || self.status / 100 == 1 || self.status == 204 || self.status == 304
    }
}
