// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

/// The request of a task: method, URL and fields. The body belongs to the task.
public struct SessionRequest: Sendable, Equatable {
    /// A case-sensitive token (RFC 9110 §9.1).
    public var method: String
    /// The target of the request.
    public var url: HTTPURL
    /// The header section. The session writes Host unless it is here. Fields that frame the body or belong to one
    /// connection are refused, except Content-Length, which gives a stream of unknown length its length.
    public var fields: Fields
    /// Overrides the session's ``SessionConfiguration/connectTimeout``.
    public var connectTimeout: Duration?
    /// Overrides the session's ``SessionConfiguration/timeout``.
    public var timeout: Duration?
    /// The time by which the task must be over, redirects, challenges and repetitions included, whatever the session's
    /// ``SessionConfiguration/resourceTimeout`` is. It cannot end a suspended task before that is resumed.
    public var deadline: ContinuousClock.Instant?
    /// Overrides the session's ``SessionConfiguration/decompression``.
    public var decompression: Decompression?
    /// Overrides the session's ``SessionConfiguration/cachePolicy``.
    public var cachePolicy: CachePolicy?
    /// Overrides the session's ``SessionConfiguration/serviceType``. Requests of different types use different
    /// connections, as all packets of a connection carry one mark.
    public var serviceType: ServiceType?
    /// Overrides the session's ``SessionConfiguration/redirects``.
    public var redirects: RedirectRule?
    /// True if making the request twice has the same effect as making it once; if nil, the method decides (RFC 9110
    /// §9.2.2).
    public var isIdempotent: Bool?
    /// The pace at which the body is sent; nil for as fast as the server takes it. It also holds if the body is sent
    /// again.
    public var throttle: Throttle?

    /// Makes a request.
    public init(_ method: String = "GET", _ url: HTTPURL, fields: Fields = Fields()) {
        self.method = method
        self.url = url
        self.fields = fields
    }

    /// Makes a request for an absolute http or https URL.
    ///
    /// - Throws: ``SessionError`` with `invalidURL`; its message says what is wrong with the URL.
    public init(_ method: String = "GET", _ url: String, fields: Fields = Fields()) throws(SessionError) {
        self.init(method, try HTTPURL.checked(url), fields: fields)
    }

    /// Checks the method and the fields.
    ///
    /// - Throws: ``SessionError`` with `invalidRequest` if they would not make one valid request on the wire.
    func checkSyntax() throws(SessionError) {
        guard FieldSyntax.isName(self.method) else {
            throw SessionError(.invalidRequest, "\(self.method.debugDescription) is not a method")
        }
        guard self.method != "CONNECT" else {
            throw SessionError(.invalidRequest, "CONNECT asks for a tunnel, which a task cannot use")
        }
        for (name, value) in self.fields.pairs {
            guard FieldSyntax.isName(name) else {
                throw SessionError(.invalidRequest, "\(name.debugDescription) is not a field name")
            }
            // The value may be a secret, so the message names only the field.
            guard FieldSyntax.isValue(value) else {
                throw SessionError(
                    .invalidRequest, "the value of \(name) has control characters, or white space at its ends")
            }
            guard !Self.reserved.contains(FieldName(name)) else {
                throw SessionError(.invalidRequest, "\(name) belongs to the connection; the session writes it")
            }
            guard FieldName(name) != .contentLength || Self.isLength(value) else {
                throw SessionError(.invalidRequest, "the value of \(name) is not a number of bytes")
            }
        }
    }

    private static func isLength(_ value: String) -> Bool {
        value.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } && UInt64(value) != nil
    }

    private static let reserved: Set<FieldName> = [
        .connection, .keepAlive, .proxyConnection, .te, .trailer, .transferEncoding, .upgrade,
    ]
}

extension HTTPURL {
    static func checked(_ text: String) throws(SessionError) -> HTTPURL {
        do throws(HTTPURLError) {
            return try HTTPURL(text)
        } catch {
            throw SessionError(.invalidURL, "\(error)")
        }
    }
}
