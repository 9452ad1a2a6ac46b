// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleSerialization

/// The head and the whole body of an answer.
struct AdminReply: Sendable {
    var head: ResponseHead
    var body: [UInt8]

    init(_ status: UInt16 = 200, _ type: String, _ body: [UInt8], _ fields: [(name: String, value: String)] = []) {
        self.head = ResponseHead(status: status, reason: Self.reasons[status] ?? "")
        self.body = body
        self.head.fields.append("Content-Type", type)
        for (name, value) in fields { self.head.fields.append(name, value) }
        Self.guarded(&self.head)
    }

    init(_ status: UInt16 = 200, text: String) {
        self.init(status, "text/plain; charset=utf-8", Array(text.utf8))
    }

    init(_ status: UInt16 = 200, json: [UInt8], _ fields: [(name: String, value: String)] = []) {
        self.init(status, "application/json", json, fields)
    }

    init(_ refusal: AdminGate.Refusal) {
        let problem = Parameter.object(
            [
                ("type", "about:blank"), ("title", .string(refusal.title)),
                ("status", .integer(Int64(refusal.status))), ("detail", .string(refusal.detail)),
            ] + refusal.more)
        self.init(refusal.status, "application/problem+json", JSONText.value(problem), refusal.fields)
    }

    /// Without a body.
    init(empty status: UInt16, _ fields: [(name: String, value: String)] = []) {
        self.head = ResponseHead(status: status, reason: Self.reasons[status] ?? "")
        self.body = []
        for (name, value) in fields { self.head.fields.append(name, value) }
        Self.guarded(&self.head)
    }

    private static let reasons: [UInt16: String] = [
        200: "OK", 204: "No Content", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 412: "Precondition Failed", 421: "Misdirected Request",
        422: "Unprocessable Content", 426: "Upgrade Required", 503: "Service Unavailable",
    ]

    /// Nothing on the page comes from elsewhere, nothing in an answer runs as a script unless it is a file of the page, and no
    /// answer is kept or shown within another site.
    static func guarded(_ head: inout ResponseHead) {
        for (name, value) in [
            (
                "Content-Security-Policy",
                "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self' data:; "
                    + "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
            ),
            ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"), ("Referrer-Policy", "no-referrer"),
            ("Cross-Origin-Resource-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cache-Control", "no-store"),
        ] { head.fields.append(name, value) }
    }
}
