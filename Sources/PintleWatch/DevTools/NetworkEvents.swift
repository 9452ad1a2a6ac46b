// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
package import PintlePolicy

/// An exchange as events of the Chrome DevTools Protocol (domain Network, version 1.3).
///
/// An exchange is told when it has ended. So its events come at once, and have the times at which they happened.
///
/// Up to a thousand exchanges are told in a second, each with a hundred members. So each event is written straight into the bytes
/// of its message.
package struct NetworkEvents {
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
    private let id: String
    private let url: String
    private let type: String
    /// The fields of the request, which two events have.
    private let requestHeaders: [UInt8]

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
        self.id = "\(number)"
        self.url = exchange.record.shownURL
        self.type = ResourceType(exchange).rawValue
        var headers = JSONMembers(reserving: 512)
        headers.fields(exchange.requestFields.pairs)
        self.requestHeaders = headers.bytes
    }

    /// The events in their order, each a message of the protocol in JSON.
    package var messages: [[UInt8]] {
        if self.exchange.isWebSocket { return self.webSocket }
        var messages = [self.request]
        if self.record.status != nil {
            messages.append(self.response)
            if let count = self.record.bytesOut, count > 0 { messages.append(self.data(count)) }
        }
        messages.append(self.isComplete ? self.end : self.failure)
        return messages
    }

    /// - Parameters:
    ///   - moment: in microseconds from the beginning of the exchange.
    ///   - size: of the message in bytes, about.
    private func event(
        _ method: StaticString, at moment: Int64, size: Int = 192, _ members: (inout JSONMembers) -> Void
    ) -> [UInt8] {
        var json = JSONMembers(reserving: size)
        json.object { json in
            json.member("method", "Network.\(method)")
            json.object("params") { json in
                json.member("requestId", self.id)
                json.seconds("timestamp", self.times.clock(moment))
                members(&json)
            }
        }
        return json.bytes
    }

    // MARK: The request

    private var request: [UInt8] {
        self.event("requestWillBeSent", at: 0, size: 640 + self.url.utf8.count + self.requestHeaders.count) { json in
            json.member("loaderId", Self.frame)
            json.member("frameId", Self.frame)
            json.member("documentURL", "")
            json.object("request") { json in
                json.member("url", self.url)
                json.member("method", self.record.method ?? "")
                json.member("headers", json: self.requestHeaders)
                json.member("hasPostData", self.hasRequestBody)
                json.member("initialPriority", "Medium")
                json.member("referrerPolicy", "no-referrer")
            }
            json.seconds("wallTime", self.times.clock(0))
            json.object("initiator") { $0.member("type", "other") }
            json.member("redirectHasExtraInfo", false)
            json.member("type", self.type)
        }
    }

    /// True if a body of the request is kept, for which a client may ask.
    private var hasRequestBody: Bool { self.exchange.bodies != nil && (self.record.bytesIn ?? 0) > 0 }

    // MARK: WebSockets

    private var webSocket: [[UInt8]] {
        let url = self.url.hasPrefix("http") ? "ws" + self.url.dropFirst(4) : self.url
        let created = self.event("webSocketCreated", at: 0) { json in
            json.member("url", url)
            json.object("initiator") { $0.member("type", "other") }
        }
        let asked = self.event("webSocketWillSendHandshakeRequest", at: 0) { json in
            json.seconds("wallTime", self.times.clock(0))
            json.object("request") { $0.member("headers", json: self.requestHeaders) }
        }
        let answered = self.event("webSocketHandshakeResponseReceived", at: self.times.head) { json in
            json.object("response") { json in
                if let status = self.record.status { json.member("status", status) }
                json.member("statusText", "")
                json.object("headers") { self.writeResponseFields(to: &$0) }
            }
        }
        let closed = self.event("webSocketClosed", at: self.times.total) { _ in }
        return [created, asked, answered] + (self.exchange.bodies?.messages ?? []).map(self.frame) + [closed]
    }

    private func frame(_ message: ShownMessage) -> [UInt8] {
        self.event(
            message.isFromClient ? "webSocketFrameSent" : "webSocketFrameReceived",
            at: self.times.offset(of: message.time), size: 256 + message.bytes.count
        ) { json in
            json.object("response") { json in
                json.member("opcode", Int(message.kind.rawValue))
                json.member("mask", message.isFromClient)
                json.member("payloadData", message.kind == .text ? message.text ?? "" : message.base64)
            }
        }
    }

    // MARK: The response

    private var response: [UInt8] {
        let size = 2048 + self.url.utf8.count + self.requestHeaders.count
        return self.event("responseReceived", at: self.times.head, size: size) { json in
            json.member("loaderId", Self.frame)
            json.member("frameId", Self.frame)
            json.member("type", self.type)
            json.member("hasExtraInfo", false)
            json.object("response") { self.writeResponse(to: &$0) }
        }
    }

    private func writeResponse(to json: inout JSONMembers) {
        json.member("url", self.url)
        if let status = self.record.status { json.member("status", status) }
        json.member("statusText", "")
        json.object("headers") { self.writeResponseFields(to: &$0) }
        // Without them here, Chromium warns that those of the request may have changed since.
        json.member("requestHeaders", json: self.requestHeaders)
        json.member("mimeType", self.exchange.responseFields.mediaType ?? "")
        json.member("charset", "")
        json.member("connectionReused", self.record.reused == true)
        json.member("connectionId", 0)
        if let address = self.record.peerAddress { json.member("remoteIPAddress", address) }
        if let port { json.member("remotePort", Int(port)) }
        json.member("fromDiskCache", self.record.source == .cache)
        json.member("encodedDataLength", 0)
        json.object("timing") { self.times.write(to: &$0) }
        json.member("protocol", self.version)
        json.member("securityState", self.security)
        self.writeSecurityDetails(to: &json)
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

    private func writeSecurityDetails(to json: inout JSONMembers) {
        guard let certificate, let version = self.record.tls else { return }
        json.object("securityDetails") { json in
            // The record writes `TLSv1.3`.
            json.member("protocol", "TLS \(version.drop { !$0.isNumber })")
            // The record has neither key exchange nor cipher, and the protocol needs them.
            json.member("keyExchange", "")
            json.member("cipher", "")
            json.member("certificateId", 0)
            json.member("subjectName", certificate.subject)
            json.member("sanList", json: Self.emptyList)
            json.member("issuer", certificate.issuer)
            json.member("validFrom", Int(certificate.validity.lowerBound))
            json.member("validTo", Int(certificate.validity.upperBound))
            json.member("signedCertificateTimestampList", json: Self.emptyList)
            json.member("certificateTransparencyCompliance", "unknown")
            json.member("encryptedClientHello", false)
        }
    }

    private static let emptyList = Array("[]".utf8)

    // MARK: The end

    private func data(_ count: Int) -> [UInt8] {
        self.event("dataReceived", at: self.times.total) { json in
            json.member("dataLength", count)
            json.member("encodedDataLength", count)
        }
    }

    private var end: [UInt8] {
        self.event("loadingFinished", at: self.times.total) { json in
            json.member("encodedDataLength", self.record.bytesOut ?? 0)
        }
    }

    private var failure: [UInt8] {
        let isRefused = self.record.decision == "deny" || self.record.decision == "reject"
        return self.event("loadingFailed", at: self.times.total, size: 512) { json in
            json.member("type", self.type)
            json.member("errorText", self.record.error ?? "no complete answer")
            json.member("canceled", false)
            if isRefused { json.member("blockedReason", "other") }
        }
    }

    // MARK: Fields

    /// The origin's fields, and Pintle's facts as fields of names that no origin can take.
    private func writeResponseFields(to json: inout JSONMembers) {
        json.write(self.exchange.responseFields.pairs.filter { !Self.isOwn($0.name) })
        for (name, value) in self.facts { if let value { json.member(name, value) } }
    }

    private var facts: [(name: StaticString, value: String?)] {
        let record = self.record
        return [
            ("pintle-id", record.id), ("pintle-process", record.process?.name),
            ("pintle-pid", record.process.map { "\($0.number)" }), ("pintle-mode", record.mode),
            ("pintle-route", record.route), ("pintle-rule", record.rule), ("pintle-decision", record.decision),
            ("pintle-trust", record.trust), ("pintle-pin", record.pin), ("pintle-assurance", record.assurance),
            ("pintle-source", record.source?.rawValue), ("pintle-cache", record.cache),
            (
                "pintle-violations",
                record.violations.isEmpty ? nil : record.violations.map(\.rawValue).joined(separator: " ")
            ),
            ("pintle-error", record.error),
        ]
    }

    /// The names of Pintle's facts, in lower case and without `pintle-`.
    private static let factNames: Set<String> = [
        "id", "process", "pid", "mode", "route", "rule", "decision", "trust", "pin", "assurance", "source", "cache",
        "violations", "error",
    ]

    /// True for a name that a fact of Pintle's has.
    private static func isOwn(_ name: String) -> Bool {
        let prefix = "pintle-"
        guard name.utf8.count > prefix.utf8.count,
            zip(name.utf8, prefix.utf8).allSatisfy({ $0 | 0x20 == $1 || $0 == $1 })
        else { return false }
        return Self.factNames.contains(name.lowercased().dropFirst(prefix.count).description)
    }
}

extension JSONMembers {
    /// A time of the protocol in seconds.
    fileprivate mutating func seconds(_ key: StaticString, _ microseconds: Int64) {
        self.member(key, microseconds, scaledBy: 6)
    }

    /// Writes fields as the protocol has them: an object, in which lines of one name are joined by line feeds.
    fileprivate mutating func fields(_ pairs: [(name: String, value: String)]) {
        self.object { $0.write(pairs) }
    }

    fileprivate mutating func write(_ pairs: [(name: String, value: String)]) {
        let names = pairs.map { $0.name.lowercased() }
        // The first line of each name; nearly always each line is the first.
        let firsts = Dictionary(zip(names, names.indices)) { first, _ in first }
        for (index, pair) in pairs.enumerated() where firsts[names[index]] == index {
            if firsts.count == pairs.count {
                self.member(named: pair.name, lines: CollectionOfOne(pair.value))
            } else {
                let lines = pairs.indices.lazy.filter { names[$0] == names[index] }.map { pairs[$0].value }
                self.member(named: pair.name, lines: lines)
            }
        }
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

    /// A moment on the protocol's clock, in microseconds. It may begin anywhere: here in 1970.
    func clock(_ moment: Int64) -> Int64 { self.start + moment }

    /// Writes the times in milliseconds from the beginning; -1 for what did not happen or is not known.
    func write(to json: inout JSONMembers) {
        let (tls, end) = (self.connecting?.tls, self.connecting?.end)
        func write(_ key: StaticString, _ moment: Int64?) {
            guard let moment else { return json.member(key, -1) }
            json.member(key, moment, scaledBy: 3)
        }
        json.seconds("requestTime", self.clock(0))
        write("proxyStart", nil)
        write("proxyEnd", nil)
        write("dnsStart", nil)
        write("dnsEnd", nil)
        write("connectStart", end.map { _ in 0 })
        write("connectEnd", end)
        write("sslStart", tls)
        write("sslEnd", tls == nil ? nil : end)
        write("workerStart", nil)
        write("workerReady", nil)
        write("workerFetchStart", nil)
        write("workerRespondWithSettled", nil)
        write("sendStart", end ?? 0)
        write("sendEnd", end ?? 0)
        json.member("pushStart", 0)
        json.member("pushEnd", 0)
        write("receiveHeadersStart", self.head)
        write("receiveHeadersEnd", self.head)
    }
}

extension Duration {
    fileprivate var inMicroseconds: Int64 {
        let (seconds, attoseconds) = self.components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}
