// SPDX-License-Identifier: Apache-2.0

/// The request that a redirect proposes (RFC 9110 §15.4).
///
/// Only a proposal: other code decides whether to follow it, and how many in a row.
package struct Redirection: Sendable, Equatable {
    /// The method of the next request.
    package var method: String
    /// The URL of the next request.
    package var url: HTTPURL
    /// The fields of the next request: those of the previous one, without those that must not be sent again.
    package var fields: Fields
    /// True if the body of the request is sent again.
    package var keepsBody: Bool

    /// Returns the next request that `response` proposes to the client.
    ///
    /// 301 and 302 turn POST into GET, 303 turns every method but HEAD into GET, 307 and 308 change nothing. If the method
    /// changes, or the status is 303, the body is dropped with all fields that describe it. If the redirect leads to
    /// another origin, also from https to http, the fields Authorization, Cookie, Host and Proxy-Authorization are dropped.
    ///
    /// - Parameters:
    ///   - method: the method of the request.
    ///   - url: the URL of the request; the Location is resolved against it.
    ///   - fields: the fields of the request.
    ///   - hasBody: true if the request had a body.
    /// - Returns: nil for every other status, 300 and 304 among them, and if there is no Location or an empty one.
    /// - Throws: ``RedirectionError`` if the Location is not an http or https URL, or if there are several that differ.
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
        // Bytes that are not UTF-8 were replaced when the field was read; their meaning is lost.
        guard !location.unicodeScalars.contains("\u{FFFD}") else {
            throw RedirectionError(.invalidLocation, "the Location of the redirect is not UTF-8", cause: nil)
        }
        return location.isEmpty ? nil : location
    }

    /// Removes the fields that describe the dropped body, or how it would have been sent.
    private static func removeContentFields(from fields: inout Fields) {
        // All at once: a head has room for hundreds.
        fields.removeAll { _, name in name.prefix(8).map(ASCII.lowercased).elementsEqual("content-".utf8) }
        for name in ["Digest", "Expect", "Last-Modified", "Repr-Digest", "Trailer", "Transfer-Encoding"] {
            fields.remove(name)
        }
    }

    private static func removeOriginFields(from fields: inout Fields) {
        fields.removeAll { [.authorization, .cookie, .host, .proxyAuthorization].contains($0) }
    }
}

/// The reason why a redirect cannot be followed.
package struct RedirectionError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of failure.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// The Location is not a URL that a request can be sent to.
        case invalidLocation = "invalid-location"
        /// Several Locations that differ: two recipients could follow different ones.
        case ambiguousLocation = "ambiguous-location"
    }

    /// The kind of failure.
    package let code: Code
    /// A message that does not repeat the Location.
    package let message: String
    /// The error in the Location, if that is the reason; its offsets are in the text of the Location.
    package let cause: HTTPURLError?

    /// Makes an error.
    package init(_ code: Code, _ message: String, cause: HTTPURLError?) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// `message: cause`, or the message alone.
    package var description: String { self.cause.map { "\(self.message): \($0)" } ?? self.message }
}
