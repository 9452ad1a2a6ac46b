// SPDX-License-Identifier: Apache-2.0

/// The field names that Pintle itself acts on. Every other name is `.other` and is compared by its spelling.
///
/// A name is recognised once, when its line is read, so that each later test is one comparison.
package enum FieldName: UInt8, Sendable {
    /// Any name that is not among the others.
    case other
    /// The field of this name, written without hyphens.
    case accept, acceptLanguage, age, authorization, cacheControl, connection, contentEncoding, contentLength
    /// The field of this name, written without hyphens.
    case contentType, cookie, date, expect, forwarded, host, keepAlive, location, maxForwards, proxy
    /// The field of this name, written without hyphens.
    case proxyAuthenticate, proxyAuthenticationInfo, proxyAuthorization, proxyConnection, retryAfter, server
    /// The field of this name, written without hyphens.
    case setCookie, te, trailer, transferEncoding, upgrade, userAgent, via

    /// The name in its usual spelling; empty for `.other`.
    package var spelling: String {
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
    package init(_ name: String) {
        var name = name
        self = name.withUTF8 { FieldName(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// Recognises a name from bytes: by its length, then by comparing the few names of that length.
    package init(bytes: UnsafeRawBufferPointer) {
        func `is`(_ lowercase: StaticString) -> Bool { ASCII.equalsIgnoringCase(bytes, lowercase) }
        self =
            switch bytes.count {
            case 2: `is`("te") ? .te : .other
            case 3: `is`("age") ? .age : `is`("via") ? .via : .other
            case 4: `is`("date") ? .date : `is`("host") ? .host : .other
            case 5: `is`("proxy") ? .proxy : .other
            case 6:
                `is`("accept")
                    ? .accept
                    : `is`("cookie")
                        ? .cookie
                        : `is`("expect")
                            ? .expect
                            : `is`("server")
                                ? .server
                                : .other
            case 7: `is`("trailer") ? .trailer : `is`("upgrade") ? .upgrade : .other
            case 8: `is`("location") ? .location : .other
            case 9: `is`("forwarded") ? .forwarded : .other
            case 10:
                `is`("connection")
                    ? .connection
                    : `is`("keep-alive")
                        ? .keepAlive
                        : `is`("set-cookie")
                            ? .setCookie
                            : `is`("user-agent")
                                ? .userAgent
                                : .other
            case 11: `is`("retry-after") ? .retryAfter : .other
            case 12: `is`("content-type") ? .contentType : `is`("max-forwards") ? .maxForwards : .other
            case 13: `is`("authorization") ? .authorization : `is`("cache-control") ? .cacheControl : .other
            case 14: `is`("content-length") ? .contentLength : .other
            case 15: `is`("accept-language") ? .acceptLanguage : .other
            case 16:
                `is`("content-encoding")
                    ? .contentEncoding
                    : `is`("proxy-connection")
                        ? .proxyConnection
                        : .other
            case 17: `is`("transfer-encoding") ? .transferEncoding : .other
            case 18: `is`("proxy-authenticate") ? .proxyAuthenticate : .other
            case 19: `is`("proxy-authorization") ? .proxyAuthorization : .other
            case 25: `is`("proxy-authentication-info") ? .proxyAuthenticationInfo : .other
            default: .other
            }
    }
}
