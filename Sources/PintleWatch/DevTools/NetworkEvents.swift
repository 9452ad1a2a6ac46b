// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
package import PintlePolicy
package import PintleSerialization

/// An exchange as events of the Chrome DevTools Protocol (domain Network, version 1.3).
///
/// An exchange is told when it has ended. So its events come at once, and have the times at which they happened.
package struct NetworkEvents {
    /// One event of the protocol.
    package struct Event: Sendable, Equatable {
        package let method: String
        package let parameters: Parameter
    }

    /// The certificate by which the origin was trusted.
    package struct Certificate: Sendable {
        let subject: String
        let issuer: String
        /// The ends of its validity, in seconds since 1970.
        let validity: ClosedRange<Int64>

        package init(subject: String, issuer: String, validity: ClosedRange<Int64>) {
            (self.subject, self.issuer, self.validity) = (subject, issuer, validity)
        }
    }

    private let exchange: ShownExchange
    private let record: ExchangeRecord
    private let isComplete: Bool
    private let port: UInt16?
    private let certificate: Certificate?
    private let times: NetworkTimes
    private let id: Parameter
    private let url: String
    private let type: Parameter

    /// The name of the only frame, in which all exchanges happen.
    package static let frame = "pintle"

    /// - Parameters:
    ///   - number: differs between exchanges. Both records of a tunnel have one id.
    ///   - isComplete: true if the client has received everything.
    ///   - port: the port of the record's address; nil if it is not known.
    ///   - certificate: nil if none was trusted.
    package init(
        _ exchange: ShownExchange, number: UInt64, isComplete: Bool, port: UInt16? = nil,
        certificate: Certificate? = nil
    ) {
        (self.exchange, self.record, self.isComplete) = (exchange, exchange.record, isComplete)
        (self.port, self.certificate) = (port, certificate)
        self.times = NetworkTimes(exchange.record)
        self.id = .string("\(number)")
        self.url = exchange.record.shownURL
        self.type = .string(ResourceType(exchange).rawValue)
    }

    /// The events in their order.
    package var events: [Event] {
        if self.exchange.isWebSocket { return self.webSocket }
        var events = [self.request]
        if self.record.status != nil {
            events.append(self.response)
            if let count = self.record.bytesOut, count > 0 { events.append(self.data(count)) }
        }
        events.append(self.isComplete ? self.end : self.failure)
        return events
    }

    private func event(_ method: String, at moment: Int64, _ members: [(String, Parameter?)]) -> Event {
        let common: [(String, Parameter?)] = [("requestId", self.id), ("timestamp", self.times.seconds(moment))]
        return Event(method: "Network.\(method)", parameters: .object(common + members))
    }

    // MARK: The request

    private var request: Event {
        self.event(
            "requestWillBeSent", at: 0,
            [
                ("loaderId", .string(Self.frame)), ("frameId", .string(Self.frame)), ("documentURL", ""),
                (
                    "request",
                    .object([
                        ("url", .string(self.url)), ("method", .string(self.record.method ?? "")),
                        ("headers", Self.headers(self.exchange.requestFields.pairs)),
                        ("hasPostData", .bool(self.hasRequestBody)), ("initialPriority", "Medium"),
                        ("referrerPolicy", "no-referrer"),
                    ])
                ),
                ("wallTime", self.times.seconds(0)), ("initiator", .object([("type", "other")])),
                ("redirectHasExtraInfo", false), ("type", self.type),
            ])
    }

    /// True if a body of the request is kept, for which a client may ask.
    private var hasRequestBody: Bool { self.exchange.bodies != nil && (self.record.bytesIn ?? 0) > 0 }

    // MARK: WebSockets

    private var webSocket: [Event] {
        let initiator: Parameter = .object([("type", "other")])
        let url = self.url.hasPrefix("http") ? "ws" + self.url.dropFirst(4) : self.url
        return [
            self.event("webSocketCreated", at: 0, [("url", .string(url)), ("initiator", initiator)]),
            self.event(
                "webSocketWillSendHandshakeRequest", at: 0,
                [
                    ("wallTime", self.times.seconds(0)),
                    ("request", .object([("headers", Self.headers(self.exchange.requestFields.pairs))])),
                ]),
            self.event(
                "webSocketHandshakeResponseReceived", at: self.times.head,
                [
                    (
                        "response",
                        .object([
                            ("status", self.record.status.map { .integer(Int64($0)) }), ("statusText", ""),
                            ("headers", self.responseHeaders),
                        ])
                    )
                ]),
        ] + (self.exchange.bodies?.messages ?? []).map(self.frame)
            + [self.event("webSocketClosed", at: self.times.total, [])]
    }

    private func frame(_ message: ShownMessage) -> Event {
        self.event(
            message.isFromClient ? "webSocketFrameSent" : "webSocketFrameReceived",
            at: self.times.offset(of: message.time),
            [
                (
                    "response",
                    .object([
                        ("opcode", .integer(Int64(message.kind.rawValue))), ("mask", .bool(message.isFromClient)),
                        ("payloadData", .string(message.kind == .text ? message.text ?? "" : message.base64)),
                    ])
                )
            ])
    }

    // MARK: The response

    private var response: Event {
        let fields = self.exchange.responseFields
        return self.event(
            "responseReceived", at: self.times.head,
            [
                ("loaderId", .string(Self.frame)), ("frameId", .string(Self.frame)), ("type", self.type),
                ("hasExtraInfo", false),
                (
                    "response",
                    .object([
                        ("url", .string(self.url)), ("status", self.record.status.map { .integer(Int64($0)) }),
                        ("statusText", ""), ("headers", self.responseHeaders),
                        // Without them here, Chromium warns that those of the request may have changed since.
                        ("requestHeaders", Self.headers(self.exchange.requestFields.pairs)),
                        ("mimeType", .string(fields.mediaType ?? "")), ("charset", ""),
                        ("connectionReused", .bool(self.record.reused == true)), ("connectionId", 0),
                        ("remoteIPAddress", self.record.peerAddress.map { .string($0) }),
                        ("remotePort", self.port.map { .integer(Int64($0)) }),
                        ("fromDiskCache", .bool(self.record.source == .cache)), ("encodedDataLength", 0),
                        ("timing", self.times.parameter), ("protocol", .string(self.version)),
                        ("securityState", .string(self.security)), ("securityDetails", self.securityDetails),
                    ])
                ),
            ])
    }

    /// By ALPN's names.
    private var version: String {
        switch self.record.http {
        case "2": "h2"
        case let version?: "http/\(version)"
        case nil: "http/1.1"
        }
    }

    private var security: String {
        if self.certificate != nil { return "secure" }
        return self.url.hasPrefix("http:") ? "insecure" : "unknown"
    }

    private var securityDetails: Parameter? {
        guard let certificate, let version = self.record.tls else { return nil }
        return .object([
            // The record writes `TLSv1.3`.
            ("protocol", .string("TLS \(version.drop { !$0.isNumber })")),
            // The record has neither key exchange nor cipher, and the protocol needs them.
            ("keyExchange", ""), ("cipher", ""), ("certificateId", 0), ("subjectName", .string(certificate.subject)),
            ("sanList", .array([])), ("issuer", .string(certificate.issuer)),
            ("validFrom", .integer(certificate.validity.lowerBound)),
            ("validTo", .integer(certificate.validity.upperBound)),
            ("signedCertificateTimestampList", .array([])), ("certificateTransparencyCompliance", "unknown"),
            ("encryptedClientHello", false),
        ])
    }

    // MARK: The end

    private func data(_ count: Int) -> Event {
        self.event(
            "dataReceived", at: self.times.total,
            [("dataLength", .integer(Int64(count))), ("encodedDataLength", .integer(Int64(count)))])
    }

    private var end: Event {
        self.event(
            "loadingFinished", at: self.times.total,
            [("encodedDataLength", .integer(Int64(self.record.bytesOut ?? 0)))])
    }

    private var failure: Event {
        let isRefused = self.record.decision == "deny" || self.record.decision == "reject"
        return self.event(
            "loadingFailed", at: self.times.total,
            [
                ("type", self.type), ("errorText", .string(self.record.error ?? "no complete answer")),
                ("canceled", false), ("blockedReason", isRefused ? "other" : nil),
            ])
    }

    // MARK: Fields

    /// The origin's fields, and Pintle's facts as fields of names that no origin can take.
    private var responseHeaders: Parameter {
        let record = self.record
        let facts: [(name: String, value: String?)] = [
            ("id", record.id), ("process", record.process?.name), ("pid", record.process.map { "\($0.number)" }),
            ("mode", record.mode), ("route", record.route), ("rule", record.rule),
            ("decision", record.decision), ("trust", record.trust), ("pin", record.pin),
            ("assurance", record.assurance), ("source", record.source?.rawValue), ("cache", record.cache),
            ("violations", record.violations.isEmpty ? nil : record.violations.map(\.rawValue).joined(separator: " ")),
            ("error", record.error),
        ]
        let own = facts.map { (name: "pintle-\($0.name)", value: $0.value) }
        let names = Set(own.map(\.name))
        let origin = self.exchange.responseFields.pairs.filter { !names.contains($0.name.lowercased()) }
        return Self.headers(
            origin + own.compactMap { fact in fact.value.map { (name: fact.name, value: $0) } })
    }

    /// Fields as the protocol has them: an object, in which lines of one name are joined by line feeds.
    private static func headers(_ pairs: [(name: String, value: String)]) -> Parameter {
        var places: [String: Int] = [:]
        var headers: [(name: String, value: String)] = []
        for (name, value) in pairs {
            if let place = places[name.lowercased()] {
                headers[place].value += "\n\(value)"
            } else {
                places[name.lowercased()] = headers.count
                headers.append((name, value))
            }
        }
        return .object(headers.map { ($0.name, .string($0.value)) })
    }
}

/// The times of one exchange, in microseconds from its beginning.
private struct NetworkTimes {
    private let start: Int64
    /// Both ends of the handshakes; nil if no connection was made for this exchange.
    private let connecting: (tls: Int64?, end: Int64)?
    /// The arrival of the response's head.
    let head: Int64
    let total: Int64

    init(_ record: ExchangeRecord) {
        self.start = record.time.milliseconds * 1000
        let total = record.duration?.inMicroseconds ?? 0
        let connected = record.connect.map { min(total, $0.inMicroseconds) }
        let end = connected.map { min(total, $0 + (record.tlsHandshake?.inMicroseconds ?? 0)) }
        self.connecting = end.map { (record.tlsHandshake == nil ? nil : connected, $0) }
        self.head = min(total, max(record.firstByte?.inMicroseconds ?? end ?? total, end ?? 0))
        self.total = total
    }

    /// The moment of a time.
    func offset(of time: Timestamp) -> Int64 { max(0, time.milliseconds * 1000 - self.start) }

    /// A moment on the protocol's clock, which may begin anywhere: here in 1970.
    func seconds(_ moment: Int64) -> Parameter { .number(Double(self.start + moment) / 1_000_000) }

    /// In milliseconds from the beginning; -1 for what did not happen or is not known.
    var parameter: Parameter {
        let (tls, end) = (self.connecting?.tls, self.connecting?.end)
        func offset(_ moment: Int64?) -> Parameter { moment.map { .number(Double($0) / 1000) } ?? -1 }
        return .object(
            [("requestTime", self.seconds(0))]
                + ["proxyStart", "proxyEnd", "dnsStart", "dnsEnd"].map { ($0, -1) } + [
                    ("connectStart", offset(end.map { _ in 0 })), ("connectEnd", offset(end)),
                    ("sslStart", offset(tls)), ("sslEnd", offset(tls == nil ? nil : end)),
                ] + ["workerStart", "workerReady", "workerFetchStart", "workerRespondWithSettled"].map { ($0, -1) } + [
                    ("sendStart", offset(end ?? 0)), ("sendEnd", offset(end ?? 0)), ("pushStart", 0), ("pushEnd", 0),
                    ("receiveHeadersStart", offset(self.head)), ("receiveHeadersEnd", offset(self.head)),
                ])
    }
}

extension Duration {
    fileprivate var inMicroseconds: Int64 {
        let (seconds, attoseconds) = self.components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}
