// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
package import PintlePolicy
package import PintleSerialization
internal import PintleTape

/// An exchange as an entry of an HTTP archive (HAR 1.2), with the members that Chromium's importer reads, and those of Pintle's own
/// in `_pintle`. A tunnel is one entry, because its content was not seen.
package struct HAREntry {
    private let exchange: ShownExchange
    private let record: ExchangeRecord
    private let bodies: (any ShownBodies)?

    /// - Parameter hasBodies: false to leave bodies out.
    package init(_ exchange: ShownExchange, hasBodies: Bool = true) {
        (self.exchange, self.record) = (exchange, exchange.record)
        self.bodies = hasBodies ? exchange.bodies : nil
    }

    /// An archive of entries.
    package static func archive(_ entries: [Parameter], version: String, comment: String? = nil) -> Parameter {
        ArchiveDocument.archive(entries, version: version, comment: comment)
    }

    package var parameter: Parameter {
        let timings = HARTimings(self.record)
        return .object([
            ("startedDateTime", .string(self.record.time.description)), ("time", .number(timings.total)),
            ("request", self.request), ("response", self.response), ("cache", .object([])),
            ("timings", timings.parameter),
            ("serverIPAddress", self.record.peerAddress.map { .string($0) }),
            ("_fromCache", self.record.source == .cache ? "memory" : nil),
            ("_resourceType", .string(self.exchange.isWebSocket ? "websocket" : "other")),
            ("_webSocketMessages", self.messages),
            ("comment", self.comment.map { .string($0) }), ("_pintle", self.pintle),
        ])
    }

    // MARK: Messages

    private var request: Parameter {
        let url = self.record.shownURL
        return .object([
            ("method", .string(self.record.method ?? "")), ("url", .string(url)),
            ("httpVersion", Self.version(self.record.clientHTTP)), ("cookies", .array([])),
            ("headers", Self.headers(self.exchange.requestFields)),
            ("queryString", ArchiveDocument.query(url)), ("postData", self.bodies?.request.map(Self.postData)),
            ("headersSize", .integer(-1)),
            ("bodySize", .integer(Int64(self.record.bytesIn ?? -1))),
        ])
    }

    private var response: Parameter {
        let fields = self.exchange.responseFields
        let body = self.bodies?.response
        return .object([
            ("status", .integer(Int64(self.record.status ?? 0))), ("statusText", ""),
            ("httpVersion", Self.version(self.record.http)), ("cookies", .array([])),
            ("headers", Self.headers(fields)),
            (
                "content",
                .object(
                    [
                        ("size", .integer(Int64(body?.bytes.count ?? self.record.bytesOut ?? 0))),
                        ("mimeType", .string(fields.types.first ?? "x-unknown")),
                    ] + (body.map(Self.content) ?? []))
            ),
            ("redirectURL", .string(fields.pairs.first { $0.name.lowercased() == "location" }?.value ?? "")),
            ("headersSize", .integer(-1)), ("bodySize", .integer(Int64(self.record.bytesOut ?? -1))),
            ("_transferSize", .integer(Int64(self.record.bytesOut ?? 0))),
            ("_error", self.record.status == nil ? .string(self.record.error ?? "no answer") : nil),
        ])
    }

    /// HAR demands a version, also of an exchange that has none.
    private static func version(_ version: String?) -> Parameter { .string("HTTP/\(version ?? "1.1")") }

    private static func postData(_ body: ShownBody) -> Parameter {
        .object(
            [("mimeType", .string(body.type ?? "")), ("text", .string(body.text ?? body.base64))]
                + (body.text == nil ? [("_encoding", "base64")] : []) + Self.comment(body))
    }

    private static func content(_ body: ShownBody) -> [(String, Parameter?)] {
        [("text", .string(body.text ?? body.base64)), ("encoding", body.text == nil ? "base64" : nil)]
            + Self.comment(body)
    }

    private static func comment(_ body: ShownBody) -> [(String, Parameter?)] {
        body.isWhole ? [] : [("comment", .string("the beginning of \(body.size) bytes"))]
    }

    /// The messages of a WebSocket, in the form of Chromium.
    private var messages: Parameter? {
        guard self.exchange.isWebSocket, let messages = self.bodies?.messages else { return nil }
        return .array(
            messages.map { message in
                .object([
                    ("type", message.isFromClient ? "send" : "receive"),
                    ("time", .number(Double(message.time.milliseconds) / 1000)),
                    ("opcode", .integer(Int64(message.kind.rawValue))),
                    ("data", .string(message.text ?? message.base64)),
                ])
            })
    }

    private static func headers(_ fields: ShownExchange.Lines) -> Parameter { ArchiveDocument.headers(fields.pairs) }

    // MARK: Pintle's own

    /// The facts for which HAR has no member, in words.
    private var comment: String? {
        let parts = [
            self.record.method == "CONNECT" ? "a tunnel, whose content was not seen" : nil,
            self.record.route.map { "route \($0)" }, self.record.decision.flatMap { $0 == "allow" ? nil : $0 },
            self.record.violations.isEmpty ? nil : self.record.violations.map(\.rawValue).joined(separator: " "),
            self.record.error,
        ].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    /// By the names of the log.
    private var pintle: Parameter {
        let record = self.record
        return .object([
            ("id", .string(record.id)), ("mode", record.mode.map { .string($0) }),
            ("client", record.client.map { .string($0) }), ("user", record.user.map { .string($0) }),
            ("tag", record.tag.map { .string($0) }), ("process", record.process.map { .string($0.name) }),
            ("pid", record.process.map { .integer(Int64($0.number)) }), ("route", record.route.map { .string($0) }),
            ("rule", record.rule.map { .string($0) }), ("decision", record.decision.map { .string($0) }),
            ("revision", record.revision.map { .string($0) }),
            ("trust", record.trust.map { .string($0) }), ("pin", record.pin.map { .string($0) }),
            ("assurance", record.assurance.map { .string($0) }), ("tls", record.tls.map { .string($0) }),
            ("upstream_status", record.upstreamStatus.map { .integer(Int64($0)) }),
            ("retries", record.retries.map { .integer(Int64($0)) }), ("cache", record.cache.map { .string($0) }),
            ("source", record.source.map { .string($0.rawValue) }),
            ("violations", record.violations.isEmpty ? nil : .strings(record.violations.map(\.rawValue))),
            ("error", record.error.map { .string($0) }),
        ])
    }
}

/// The times of one exchange in milliseconds. In HAR, their sum must be the total time.
private struct HARTimings {
    private let connect: Double
    private let ssl: Double
    private let wait: Double
    private let receive: Double

    init(_ record: ExchangeRecord) {
        let whole = record.duration?.inMilliseconds ?? 0
        let first = min(whole, record.firstByte?.inMilliseconds ?? whole)
        // In HAR, the time to connect includes that of TLS.
        let connecting = record.connect.map { min(first, ($0 + (record.tlsHandshake ?? .zero)).inMilliseconds) }
        self.connect = connecting ?? -1
        self.ssl = record.tlsHandshake.map { min($0.inMilliseconds, connecting ?? 0) } ?? -1
        self.wait = first - (connecting ?? 0)
        self.receive = whole - first
    }

    var total: Double { max(0, self.connect) + self.wait + self.receive }

    var parameter: Parameter {
        .object([
            ("blocked", .integer(-1)), ("dns", .integer(-1)), ("connect", .number(self.connect)),
            ("ssl", .number(self.ssl)), ("send", .integer(0)), ("wait", .number(self.wait)),
            ("receive", .number(self.receive)),
        ])
    }
}

extension Duration {
    /// With microseconds behind the point.
    fileprivate var inMilliseconds: Double {
        let (seconds, attoseconds) = self.components
        return Double(seconds * 1_000_000 + attoseconds / 1_000_000_000_000) / 1000
    }
}
