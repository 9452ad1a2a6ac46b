// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The web pages of other origins that may use a route: `cors`, by the CORS protocol of WHATWG's Fetch Standard.
package struct CORSRules: Sendable, Equatable {
    /// The origins whose pages may read responses.
    package var origins: [CORSOrigin] = []
    /// The methods that their requests may have. Default: those of `match.methods`, else ``usualMethods``.
    package var methods: [String] = Self.usualMethods
    /// The names of fields that their requests may have, beside those that need no permission. Default none.
    package var headers: [String] = []
    /// The names of fields of responses that pages may read, beside those that need no permission. Default none.
    package var exposed: [String] = []
    /// True if requests may have cookies and other credentials. Default false.
    package var allowsCredentials = false
    /// The time for which a browser remembers the answer to a preflight. Default nil: the browser's own.
    package var maxAge: Duration?

    package static let usualMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]

    package init() {}

    /// True if pages of every origin may read responses.
    package var allowsAnyOrigin: Bool { self.origins.contains(where: \.isAny) }

    /// True if requests may have any field.
    private var allowsAnyHeader: Bool { self.headers.contains("*") }

    private func allows(_ origin: String) -> Bool { self.origins.contains { $0.matches(origin) } }

    /// The answer to a preflight; nil if the request is none.
    ///
    /// A browser compares the method and the fields with the lists itself, and then says what is missing. It only says that
    /// there is no permission if the origin has none; so the answer says why.
    ///
    /// - Parameter route: the route's name with its place, for messages.
    func preflight(_ head: RequestHead, on route: String) -> RouteAnswer? {
        guard head.announcedMethod != nil, let origin = head.fields[Self.originName] else { return nil }
        guard self.allows(origin) else {
            let reason = "the origin \(origin.excerpt) is not in cors.origins of \(route)"
            return RouteAnswer(
                status: 403, fields: ["Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store"],
                body: Array("\(reason)\n".utf8), note: reason, isPreflight: true)
        }
        var fields: Fields = ["Access-Control-Allow-Methods": self.methods.joined(separator: ", ")]
        let headers = self.allowsAnyHeader ? Self.requestedHeaders(head.fields) : self.headers
        if !headers.isEmpty { fields.append("Access-Control-Allow-Headers", headers.joined(separator: ", ")) }
        if let maxAge { fields.append("Access-Control-Max-Age", String(maxAge.components.seconds)) }
        if self.allowsAnyHeader { fields.append("Vary", "Access-Control-Request-Headers") }
        return RouteAnswer(status: 204, fields: fields, isPreflight: true)
    }

    /// The names in Access-Control-Request-Headers. `*` in an answer would not stand for Authorization, nor for anything in
    /// requests with credentials.
    private static func requestedHeaders(_ fields: Fields) -> [String] {
        fields.values(of: "Access-Control-Request-Headers").flatMap { $0.split(separator: ",") }.map { name in
            String(decoding: ASCII.trimmed(Array(name.utf8)[...]), as: UTF8.self)
        }.filter(FieldSyntax.isName)
    }

    /// Replaces the permissions that an origin has given by those of the rules.
    ///
    /// - Parameters:
    ///   - origin: the value of the request's Origin field; nil if it has none.
    ///   - isPreflight: true if the fields are those of an answer to a preflight.
    func apply(to fields: inout Fields, for origin: String?, isPreflight: Bool) {
        if !isPreflight { for name in Self.responseNames { fields.remove(name) } }
        // The answer depends on Origin even if the request has none: a cache must not give it to one that has.
        if !self.allowsAnyOrigin { Self.vary(by: Self.originName, &fields) }
        // A page without permission gets none of these fields.
        guard let origin, self.allows(origin) else { return }
        fields.append("Access-Control-Allow-Origin", self.allowsAnyOrigin ? "*" : origin)
        if self.allowsCredentials { fields.append("Access-Control-Allow-Credentials", "true") }
        if !isPreflight, !self.exposed.isEmpty {
            fields.append("Access-Control-Expose-Headers", self.exposed.joined(separator: ", "))
        }
    }

    private static func vary(by name: String, _ fields: inout Fields) {
        let names = fields.values(of: "Vary").flatMap { $0.split(separator: ",") }.map { name in
            String(decoding: ASCII.trimmed(Array(name.utf8)[...]), as: UTF8.self).lowercased()
        }
        if !names.contains("*"), !names.contains(name.lowercased()) { fields.append("Vary", name) }
    }

    private static let originName = "Origin"

    /// The fields of responses by which an origin gives permissions.
    package static let responseNames = [
        "Access-Control-Allow-Origin", "Access-Control-Allow-Credentials", "Access-Control-Expose-Headers",
        "Access-Control-Allow-Methods", "Access-Control-Allow-Headers", "Access-Control-Max-Age",
    ]
}

extension RequestHead {
    /// The method of the request that a preflight announces; nil if this is no preflight.
    package var announcedMethod: String? {
        guard self.method == "OPTIONS", self.fields.contains("Origin") else { return nil }
        return self.fields["Access-Control-Request-Method"].flatMap { FieldSyntax.isName($0) ? $0 : nil }
    }
}
