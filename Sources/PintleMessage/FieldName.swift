// SPDX-License-Identifier: Apache-2.0

/// The field names that Pintle itself acts on; every other name is `.other` and compared by its spelling.
///
/// A name is recognised once, when its line is read, so that later questions are one comparison.
public enum FieldName: UInt8, Sendable {
    case other
    case accept, acceptLanguage, age, authorization, cacheControl, connection, contentEncoding, contentLength
    case contentType, cookie, date, expect, forwarded, host, keepAlive, location, maxForwards, proxy
    case proxyAuthenticate, proxyAuthenticationInfo, proxyAuthorization, proxyConnection, retryAfter, server
    case setCookie, te, trailer, transferEncoding, upgrade, userAgent, via

    /// The name in its usual spelling; empty for `.other`.
    public var spelling: String {
        switch self {
        case .other: ""
        case .accept: "Accept"
        case .acceptLanguage: "Accept-Language"
        case .age: "Age"
        case .authorization: "Authorization"
        case .cacheControl: "Cache-Control"
        case .connection: "Connection"
        case .contentEncoding: "Content-Encoding"
        case .contentLength: "Content-Length"
        case .contentType: "Content-Type"
        case .cookie: "Cookie"
        case .date: "Date"
        case .expect: "Expect"
        case .forwarded: "Forwarded"
        case .host: "Host"
        case .keepAlive: "Keep-Alive"
        case .location: "Location"
        case .maxForwards: "Max-Forwards"
        case .proxy: "Proxy"
        case .proxyAuthenticate: "Proxy-Authenticate"
        case .proxyAuthenticationInfo: "Proxy-Authentication-Info"
        case .proxyAuthorization: "Proxy-Authorization"
        case .proxyConnection: "Proxy-Connection"
        case .retryAfter: "Retry-After"
        case .server: "Server"
        case .setCookie: "Set-Cookie"
        case .te: "TE"
        case .trailer: "Trailer"
        case .transferEncoding: "Transfer-Encoding"
        case .upgrade: "Upgrade"
        case .userAgent: "User-Agent"
        case .via: "Via"
        }
    }

    /// Recognises a name from text.
    public init(_ name: String) {
        var name = name
        self = name.withUTF8 { FieldName(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// Recognises a name from bytes.
    public init(bytes: UnsafeRawBufferPointer) {
        self = .other
        guard bytes.count < Self.byLength.count else { return }
        for candidate in Self.byLength[bytes.count] where ASCII.equalsIgnoringCase(bytes, candidate.lowercase) {
            self = candidate.name
            return
        }
    }

    /// The known names by the length of their spelling: at most four share one.
    private static let byLength: [[(name: FieldName, lowercase: [UInt8])]] = {
        var table: [[(name: FieldName, lowercase: [UInt8])]] = Array(repeating: [], count: 32)
        var raw: UInt8 = 1
        while let name = FieldName(rawValue: raw) {
            let lowercase = Array(name.spelling.lowercased().utf8)
            table[lowercase.count].append((name, lowercase))
            raw += 1
        }
        return table
    }()
}
