// SPDX-License-Identifier: Apache-2.0

/// The request that a redirect proposes (RFC 9110 §15.4).
///
/// It is a proposal: how many are followed, and whether this one is, is for others to say.
package struct Redirection: Sendable, Equatable {
    /// The method of the next request.
    package var method: String
    /// Where the next request goes.
    package var url: HTTPURL
    /// The fields of the next request: those of the request before it, without what must not go there.
    package var fields: Fields
    /// Whether the body of the request is sent again.
    package var keepsBody: Bool

    /// What `response` proposes to who sent a request.
    ///
    /// 301 and 302 make GET of POST, 303 makes GET of everything but HEAD, 307 and 308 change nothing; with the method
    /// the body goes and all fields that describe it. A 303 never takes the body along. Towards another origin, so also
    /// from https to http, the fields Authorization, Cookie, Host and Proxy-Authorization go.
    ///
    /// - Parameters:
    ///   - method: of the request.
    ///   - url: of the request; the Location is resolved against it.
    ///   - fields: of the request.
    ///   - hasBody: whether the request had a body.
    /// - Returns: nil for every other status, 300 and 304 among them, and where no Location says where to go.
    /// - Throws: where the Location is no http or https URL, or several do not agree.
    package static func proposed(
        by response: ResponseHead, to method: String, _ url: HTTPURL, fields: Fields, hasBody: Bool
    ) throws(RedirectionError) -> Redirection? {
        guard let rule = Rule(status: response.status), let location = try Self.location(response.fields) else {
            return nil
        }
        let target: HTTPURL
        do throws(HTTPURLError) {
            target = try url.resolving(location)
        } catch {
            throw RedirectionError(.invalidLocation, "the Location of the redirect cannot be followed", cause: error)
        }
        let nextMethod = rule.method(after: method)
        let dropsBody = nextMethod != method || rule == .retrieval
        var fields = fields
        if dropsBody { Self.removeContentFields(from: &fields) }
        if !target.isSameOrigin(as: url) { Self.removeOriginFields(from: &fields) }
        return Redirection(method: nextMethod, url: target, fields: fields, keepsBody: hasBody && !dropsBody)
    }

    private enum Rule {
        case postBecomesGet, retrieval, same

        init?(status: UInt16) {
            switch status {
            case 301, 302: self = .postBecomesGet
            case 303: self = .retrieval
            case 307, 308: self = .same
            default: return nil
            }
        }

        func method(after method: String) -> String {
            switch self {
            case .postBecomesGet: method == "POST" ? "GET" : method
            case .retrieval: method == "HEAD" ? method : "GET"
            case .same: method
            }
        }
    }

    private static func location(_ fields: Fields) throws(RedirectionError) -> String? {
        let locations = fields.values(of: FieldName.location.spelling)
        guard let location = locations.first else { return nil }
        guard locations.allSatisfy({ $0.utf8.elementsEqual(location.utf8) }) else {
            throw RedirectionError(.ambiguousLocation, "the redirect has several Locations that differ", cause: nil)
        }
        // Bytes that are not UTF-8 were replaced when the field was read: what they meant is lost.
        guard !location.unicodeScalars.contains("\u{FFFD}") else {
            throw RedirectionError(.invalidLocation, "the Location of the redirect is not UTF-8", cause: nil)
        }
        return location.isEmpty ? nil : location
    }

    /// Removes what describes the body that is not sent again, or how it would have been sent.
    private static func removeContentFields(from fields: inout Fields) {
        for (name, _) in fields.pairs where name.lowercased().hasPrefix("content-") { fields.remove(name) }
        for name in ["Digest", "Expect", "Last-Modified", "Repr-Digest", "Trailer", "Transfer-Encoding"] {
            fields.remove(name)
        }
    }

    private static func removeOriginFields(from fields: inout Fields) {
        fields.removeAll { [.authorization, .cookie, .host, .proxyAuthorization].contains($0) }
    }
}

/// Why a redirect cannot be followed.
package struct RedirectionError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of failure.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// The Location is not a URL that a request can be sent to.
        case invalidLocation = "invalid-location"
        /// Several Locations that differ: two readers could go to two places.
        case ambiguousLocation = "ambiguous-location"
    }

    /// What kind of failure it is.
    package let code: Code
    /// What is wrong, without the Location itself.
    package let message: String
    /// What is wrong with the Location, where that is the reason; offsets are in its text.
    package let cause: HTTPURLError?

    /// Makes an error.
    package init(_ code: Code, _ message: String, cause: HTTPURLError?) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// `message: cause`.
    package var description: String { self.cause.map { "\(self.message): \($0)" } ?? self.message }
}
