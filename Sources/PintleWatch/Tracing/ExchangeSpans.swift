// SPDX-License-Identifier: Apache-2.0

package import PintleActivity
internal import PintleMessage
internal import PintleSystem

/// Makes the spans of a finished exchange, with the stable attributes of OpenTelemetry's semantic conventions for HTTP.
package struct ExchangeSpans {
    private let record: ExchangeRecord
    private let trace: ExchangeTrace
    private let isComplete: Bool
    private let redaction: Redaction

    /// - Parameters:
    ///   - isComplete: true if the client has received everything.
    ///   - redaction: that of the log.
    package init(_ record: ExchangeRecord, _ trace: ExchangeTrace, isComplete: Bool, redaction: Redaction) {
        (self.record, self.trace, self.isComplete, self.redaction) = (record, trace, isComplete, redaction)
    }

    /// The SERVER span, and behind it the CLIENT span if an origin was asked for this exchange.
    package var spans: [TraceSpan] { [self.server] + (self.client.map { [$0] } ?? []) }

    // MARK: Times

    private var start: Int64 { self.record.time.milliseconds * 1_000_000 }
    private var end: Int64 { self.time(after: self.record.duration ?? .zero) }
    private func time(after duration: Duration) -> Int64 { self.start + duration.wholeNanoseconds }

    // MARK: The two spans

    private var server: TraceSpan {
        var span = TraceSpan(
            .server, Self.name(self.record.method), self.trace.server, under: self.trace.parent, of: self.trace,
            from: self.start, to: self.end)
        Self.add(method: self.record.method, to: &span)
        self.addTarget(to: &span)
        let client = self.record.client
        let isLocal = client?.hasPrefix("unix:") == true
        span.add("client.address", client)
        span.add("network.peer.address", isLocal ? nil : client)
        span.add("network.transport", isLocal ? "unix" : nil)
        span.add("network.protocol.version", self.trace.version)
        span.add("http.response.status_code", self.record.status)
        if let type = self.serverError {
            span.add("error.type", type)
            // A refusal by 4xx is the client's error, and no failure of the proxy.
            let isFailure = !(400..<500).contains(self.record.status ?? 0) || self.trace.problem == nil
            if isFailure { span.status = .error(self.reason) }
        }
        span.add("pintle.exchange.id", self.record.id)
        span.add("pintle.route", self.record.route)
        span.add("pintle.rule", self.record.rule)
        span.add("pintle.decision", self.record.decision)
        span.add("pintle.trust", self.record.trust)
        span.add("pintle.pin", self.record.pin)
        span.add("pintle.cache", self.record.cache)
        span.add("pintle.violations", self.record.violations.map(\.rawValue))
        return span
    }

    private var client: TraceSpan? {
        guard let sent = self.trace.sent, self.hasAskedOrigin else { return nil }
        let end = self.trace.originEnd.map { self.time(after: $0) } ?? self.end
        var span = TraceSpan(
            .client, Self.name(sent.method), self.trace.client, under: self.trace.server, of: self.trace,
            from: self.time(after: sent.start), to: end)
        Self.add(method: sent.method, to: &span)
        span.add("url.full", self.redaction.url(sent.url.description))
        span.add("server.address", sent.url.authority.host)
        span.add("server.port", Int(sent.url.authority.port))
        if let peer = self.record.address.map(Peer.init) {
            span.add("network.peer.address", peer.address)
            span.add("network.peer.port", peer.port)
        }
        span.add("network.protocol.version", self.record.http)
        span.add("http.response.status_code", self.upstreamStatus)
        let resends = (self.record.retries ?? 0) + (self.record.redirects ?? 0)
        span.add("http.request.resend_count", resends > 0 ? resends : nil)
        if let type = self.clientError {
            span.add("error.type", type)
            span.status = .error(self.reason)
        }
        span.add("pintle.exchange.id", self.record.id)
        span.add("pintle.trust", self.record.trust)
        span.add("pintle.pin", self.record.pin)
        return span
    }

    // MARK: Attributes

    /// The method, which is the name of the span, too: paths would make a name for each resource.
    private static func name(_ method: String?) -> String {
        method.flatMap { Self.methods.contains($0) ? $0 : nil } ?? "HTTP"
    }

    private static func add(method: String?, to span: inout TraceSpan) {
        let isKnown = method.map { Self.methods.contains($0) } ?? false
        span.add("http.request.method", isKnown ? method : "_OTHER")
        span.add("http.request.method_original", isKnown ? nil : method)
    }

    /// The methods of RFC 9110 §9 and RFC 5789. Clients can invent any number of others, so they are no values.
    private static let methods: Set<String> = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH",
    ]

    /// Adds what the client has asked for. A tunnel's target is no URL.
    private func addTarget(to span: inout TraceSpan) {
        let url = self.record.url.map(self.redaction.url)
        let isTunnel = self.record.method == "CONNECT"
        let separator = url?.firstRange(of: "://")
        // A gateway's client writes the path alone.
        let scheme = isTunnel ? nil : separator.map { String((url ?? "")[..<$0.lowerBound]) } ?? "http"
        if !isTunnel, let url {
            span.add("url.full", separator == nil ? self.record.host.map { "http://\($0)\(url)" } : url)
            let rest = separator.map { url[$0.upperBound...] } ?? url[...]
            let target = rest.firstIndex(of: "/").map { rest[$0...] } ?? "/"
            let query = target.firstIndex(of: "?")
            span.add("url.scheme", scheme)
            span.add("url.path", String(target[..<(query ?? target.endIndex)]))
            span.add("url.query", query.map { String(target[target.index(after: $0)...]) })
        }
        let port = UInt16(scheme == "https" || isTunnel ? 443 : 80)
        guard let host = self.record.host, let server = Authority(host, defaultPort: port) else { return }
        span.add("server.address", server.host)
        span.add("server.port", Int(server.port))
    }

    // MARK: Outcomes

    /// False if the cache has answered, or the answer to an equal request.
    private var hasAskedOrigin: Bool {
        if self.trace.problem == "cache-miss" { return false }
        switch self.record.cache {
        case "hit", "stale", "merged": return false
        default: return true
        }
    }

    /// The origin's status. If the cache answers after it has asked, the origin has answered 304.
    private var upstreamStatus: Int? { self.record.upstreamStatus ?? (self.record.cache == "validated" ? 304 : nil) }

    private var serverError: String? {
        guard let status = self.record.status else { return self.trace.problem ?? Self.incomplete }
        if status >= 400, let problem = self.trace.problem { return problem }
        if status >= 500 { return "\(status)" }
        return self.isComplete ? nil : Self.incomplete
    }

    private var clientError: String? {
        if let status = self.upstreamStatus, status >= 400 { return "\(status)" }
        return self.trace.problem ?? (self.isComplete ? nil : Self.incomplete)
    }

    /// The type of the error if a message has ended early.
    private static let incomplete = "incomplete"

    private var reason: String { self.record.error.map(self.redaction.text) ?? "" }

    /// The address that was connected to, with its port if it is known.
    private struct Peer {
        let address: String
        let port: Int?

        init(_ place: String) {
            // An IPv6 address has a port only behind brackets.
            let hasPort = place.hasPrefix("[") || place.count { $0 == ":" } == 1
            let authority = hasPort ? Authority(place, defaultPort: nil) : nil
            self.address = authority?.host ?? place
            self.port = authority.map { Int($0.port) }
        }
    }
}
