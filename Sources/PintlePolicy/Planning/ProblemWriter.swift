// SPDX-License-Identifier: Apache-2.0

package import PintleMessage
internal import PintleSerialization
internal import PintleSystem
package import PintleTrust

/// Renders a problem as a response.
package enum ProblemWriter {
    /// Facts about the exchange that the problem concerns.
    package struct Context {
        let exchangeID: String
        let route: String?
        let trust: String?
        let json: Bool
        let time: UnixTime

        /// - Parameters:
        ///   - json: true if the client accepts JSON.
        ///   - time: the response's Date. Default: now.
        package init(exchangeID: String, route: String?, trust: String?, json: Bool, time: UnixTime = .now) {
            (self.exchangeID, self.route, self.trust, self.json, self.time) = (exchangeID, route, trust, json, time)
        }
    }

    /// The most characters of a problem's sentence in a header field: some clients accept only 16 KiB for all fields.
    private static let detailLimit = 512
    /// The most characters of a Content-Type that is quoted.
    private static let typeLimit = 200

    /// Makes the head, without framing, and the body.
    package static func response(_ problem: Problem, _ context: Context) -> (head: ResponseHead, body: [UInt8]) {
        var head = ResponseHead(status: problem.status, reason: problem.phrase ?? problem.name.title)
        head.fields.append("Date", HTTPDate.text(context.time.seconds))
        head.fields.append("Content-Type", context.json ? "application/problem+json" : "text/plain; charset=utf-8")
        head.fields.append("Proxy-Status", Self.proxyStatus(problem))
        if let challenge = problem.challenge { head.fields.append("Proxy-Authenticate", challenge) }
        if problem.status == 503 { head.fields.append("Retry-After", "1") }
        head.fields.append("Cache-Control", "no-store")
        return (head, context.json ? Self.json(problem, context) : Self.text(problem, context))
    }

    /// The value of `Proxy-Status` (RFC 9209 §2), whose text is a string of structured fields (RFC 8941 §3.3.3).
    static func proxyStatus(_ problem: Problem) -> String {
        let details = FieldSyntax.quoted(problem.detail.cut(to: Self.detailLimit).asASCII.utf8)
        return "pintle; error=\(problem.proxyError); details=\(details)"
    }

    /// True if an Accept field permits JSON (RFC 9110 §12.5.1). Without the field everything is accepted.
    package static func acceptsJSON(_ accept: String?) -> Bool {
        guard let accept else { return true }
        // Only the first KiB counts, so that a list of thousands costs little; clients send some hundred bytes.
        let folded = String(decoding: accept.utf8.prefix(1024).map(ASCII.folded), as: UTF8.self)
        return folded.split(separator: ",").contains { range in
            let parts = range.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            let refused = parts.dropFirst().contains { ["q=0", "q=0.0", "q=0.00", "q=0.000"].contains($0) }
            return !refused && Self.jsonRanges.contains(parts.first ?? "")
        }
    }

    private static let jsonRanges = ["*/*", "application/*", "application/json", "application/problem+json"]

    private static func json(_ problem: Problem, _ context: Context) -> [UInt8] {
        var members: [(String, Parameter)] = [
            ("type", .string("urn:pintle:problem:\(problem.name.rawValue)")),
            ("title", .string(problem.name.title)),
            ("status", .integer(Int64(problem.status))),
            ("detail", .string(problem.detail)),
            ("instance", .string(context.exchangeID)),
        ]
        if let route = context.route { members.append(("route", .string(route))) }
        if let trust = context.trust { members.append(("trust", .string(trust))) }
        if let status = problem.upstreamStatus { members.append(("upstream_status", .integer(Int64(status)))) }
        if let type = problem.upstreamContentType?.cut(to: Self.typeLimit) {
            members.append(("upstream_content_type", .string(type)))
        }
        if !problem.causes.isEmpty { members.append(("causes", .array(problem.causes.map { .string($0) }))) }
        if !problem.chain.isEmpty {
            let chain = problem.chain.map {
                Parameter.dictionary([.init("subject", .string($0.subject)), .init("pin", .string($0.pin))])
            }
            members.append(("chain", .array(chain)))
            members.append(("configured_pins", .array(problem.configuredPins.map { .string($0) })))
        }
        let object = Parameter.dictionary(members.map { Parameter.Entry($0.0, $0.1) })
        // The object has only strings and integers, so it is always valid JSON.
        let bytes = (try? JSONWriter.write(object)) ?? []
        return Array((String(decoding: bytes, as: UTF8.self).showable(keepingLines: false) + "\n").utf8)
    }

    private static func text(_ problem: Problem, _ context: Context) -> [UInt8] {
        var lines = ["\(problem.status) \(problem.name.title)", problem.detail]
        if let status = problem.upstreamStatus { lines.append("upstream status: \(status)") }
        lines += problem.causes.map { "cause: \($0)" }
        lines += problem.chain.map { "peer: \($0.subject) \($0.pin)" }
        lines += problem.configuredPins.map { "configured: \($0)" }
        lines.append("urn:pintle:problem:\(problem.name.rawValue) \(context.exchangeID)")
        return Array((lines.map { $0.showable(keepingLines: false) }.joined(separator: "\n") + "\n").utf8)
    }
}
