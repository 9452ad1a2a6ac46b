// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleActivity
import PintleMessage
import PintleTesting
import Testing

@testable import PintleWatch

struct ExchangeSpansTests {
    private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    private func trace(isContinued: Bool = false) -> ExchangeTrace {
        var generator = SeededGenerator(seed: 1)
        let fields: Fields = isContinued ? ["traceparent": Self.parent, "tracestate": "a=1"] : [:]
        return ExchangeTrace(
            RequestHead(method: "GET", target: .origin(path: "/"), fields: fields), continues: true,
            sampling: TraceSampling(1), using: &generator)
    }

    private func sent(
        _ url: String, method: String = "GET", isContinued: Bool = false, problem: String? = nil
    ) throws -> ExchangeTrace {
        var trace = self.trace(isContinued: isContinued)
        trace.sent = .init(method: method, url: try HTTPURL(url), start: .milliseconds(2))
        trace.originEnd = .milliseconds(40)
        trace.problem = problem
        return trace
    }

    private func record(_ url: String?, status: Int?, method: String = "GET") -> ExchangeRecord {
        var record = ExchangeRecord.example(method: method, status: status)
        (record.url, record.client, record.decision) = (url, "127.0.0.1", "allow")
        return record
    }

    private func spans(
        _ record: ExchangeRecord, _ trace: ExchangeTrace, isComplete: Bool = true, redaction: Redaction = .on
    ) -> [TraceSpan] {
        ExchangeSpans(record, trace, isComplete: isComplete, redaction: redaction).spans
    }

    // MARK: Documents

    /// The whole document of a forwarded request.
    @Test func `the document has the JSON encoding of OTLP`() throws {
        var record = self.record("https://a.test/p?key=secret", status: 200)
        (record.host, record.address, record.http) = ("a.test:443", "192.0.2.1", "2")
        (record.upstreamStatus, record.rule, record.trust) = (200, "destinations.default", "payments")
        (record.pin, record.cache, record.retries) = ("sha256/x", "miss", 1)
        record.violations = [.responseStatus]
        let trace = try self.sent("https://a.test/p?key=secret", isContinued: true)
        let document = OTLPDocument(version: "1.2.3", host: "machine", process: 17)
        let bytes = document.bytes(of: self.spans(record, trace))
        let expected = """
            {"resourceSpans":[{"resource":{"attributes":[
            {"key":"service.name","value":{"stringValue":"pintle"}},
            {"key":"service.version","value":{"stringValue":"1.2.3"}},
            {"key":"host.name","value":{"stringValue":"machine"}},
            {"key":"process.pid","value":{"intValue":"17"}}]},
            "scopeSpans":[{"scope":{"name":"pintle","version":"1.2.3"},"spans":[
            {"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"\(trace.server)","traceState":"a=1",
            "parentSpanId":"00f067aa0ba902b7","flags":769,"name":"GET","kind":2,
            "startTimeUnixNano":"1767225600000000000","endTimeUnixNano":"1767225600042000000","attributes":[
            {"key":"http.request.method","value":{"stringValue":"GET"}},
            {"key":"url.full","value":{"stringValue":"https://a.test/p?key=***"}},
            {"key":"url.scheme","value":{"stringValue":"https"}},
            {"key":"url.path","value":{"stringValue":"/p"}},
            {"key":"url.query","value":{"stringValue":"key=***"}},
            {"key":"server.address","value":{"stringValue":"a.test"}},
            {"key":"server.port","value":{"intValue":"443"}},
            {"key":"client.address","value":{"stringValue":"127.0.0.1"}},
            {"key":"network.peer.address","value":{"stringValue":"127.0.0.1"}},
            {"key":"network.protocol.version","value":{"stringValue":"1.1"}},
            {"key":"http.response.status_code","value":{"intValue":"200"}},
            {"key":"pintle.exchange.id","value":{"stringValue":"a-1"}},
            {"key":"pintle.route","value":{"stringValue":"api"}},
            {"key":"pintle.rule","value":{"stringValue":"destinations.default"}},
            {"key":"pintle.decision","value":{"stringValue":"allow"}},
            {"key":"pintle.trust","value":{"stringValue":"payments"}},
            {"key":"pintle.pin","value":{"stringValue":"sha256/x"}},
            {"key":"pintle.cache","value":{"stringValue":"miss"}},
            {"key":"pintle.violations","value":{"arrayValue":{"values":[{"stringValue":"response-status"}]}}}],"status":{}},
            {"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"\(trace.client)","traceState":"a=1",
            "parentSpanId":"\(trace.server)","flags":257,"name":"GET","kind":3,
            "startTimeUnixNano":"1767225600002000000","endTimeUnixNano":"1767225600040000000","attributes":[
            {"key":"http.request.method","value":{"stringValue":"GET"}},
            {"key":"url.full","value":{"stringValue":"https://a.test/p?key=***"}},
            {"key":"server.address","value":{"stringValue":"a.test"}},
            {"key":"server.port","value":{"intValue":"443"}},
            {"key":"network.peer.address","value":{"stringValue":"192.0.2.1"}},
            {"key":"network.protocol.version","value":{"stringValue":"2"}},
            {"key":"http.response.status_code","value":{"intValue":"200"}},
            {"key":"http.request.resend_count","value":{"intValue":"1"}},
            {"key":"pintle.exchange.id","value":{"stringValue":"a-1"}},
            {"key":"pintle.trust","value":{"stringValue":"payments"}},
            {"key":"pintle.pin","value":{"stringValue":"sha256/x"}}],"status":{}}],
            "schemaUrl":"https://opentelemetry.io/schemas/1.27.0"}]}]}
            """.replacingOccurrences(of: "\n", with: "")
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
    }

    @Test func `an error has its code and its reason`() throws {
        var record = self.record("http://a.test/", status: 502)
        record.error = "http://a.test/?key=secret is gone"
        let spans = self.spans(record, try self.sent("http://a.test/", problem: "connect-failure"))
        let text = String(
            decoding: OTLPDocument(version: "1", host: nil, process: 1).bytes(of: spans), as: UTF8.self)
        let status = #""status":{"message":"http://a.test/?key=*** is gone","code":2}"#
        #expect(text.components(separatedBy: status).count == 3, "\(text)")
        #expect(!text.contains("host.name") && !text.contains("traceState") && !text.contains("secret"))
    }

    // MARK: Answers

    @Test(
        arguments: [
            ("", 0, ""), ("{}", 0, ""), ("no JSON", 0, ""), ("[]", 0, ""), (#"{"partialSuccess":{}}"#, 0, ""),
            (#"{"partialSuccess":{"rejectedSpans":"5","errorMessage":"old"}}"#, 5, "old"),
            (#"{"partialSuccess":{"rejectedSpans":7}}"#, 7, ""),
            (#"{"partialSuccess":{"rejectedSpans":"-5"}}"#, 0, ""),
            (#"{"partialSuccess":{"rejectedSpans":"many","errorMessage":3}}"#, 0, ""),
        ] as [(String, Int, String)])
    func `an answer tells of the spans that were rejected`(body: String, rejected: Int, reason: String) {
        let answer = OTLPAnswer(Array(body.utf8))
        #expect(answer.rejected == rejected && answer.reason == reason)
    }

    // MARK: Kinds

    @Test(
        arguments: [
            (nil, true), ("miss", true), ("bypass", true), ("validated", true), ("hit", false), ("stale", false),
            ("merged", false),
        ] as [(String?, Bool)])
    func `there is a CLIENT span if an origin was asked for this exchange`(cache: String?, isAsked: Bool) throws {
        var record = self.record("http://a.test/", status: 200)
        record.cache = cache
        #expect(self.spans(record, try self.sent("http://a.test/")).count == (isAsked ? 2 : 1))
        #expect(self.spans(record, self.trace()).map(\.kind) == [.server])
    }

    @Test func `a validated response has the origin's 304`() throws {
        var record = self.record("http://a.test/", status: 200)
        record.cache = "validated"
        let spans = self.spans(record, try self.sent("http://a.test/"))
        #expect(spans.map { $0["http.response.status_code"] } == [.number(200), .number(304)])
    }

    @Test func `nothing was asked if the cache alone might answer`() throws {
        var record = self.record("http://a.test/", status: 504)
        record.cache = "miss"
        let spans = self.spans(record, try self.sent("http://a.test/", problem: "cache-miss"))
        #expect(spans.map(\.kind) == [.server] && spans[0]["error.type"] == .text("cache-miss"))
    }

    @Test(
        arguments: [
            // The status for the client, that of the origin, the problem, and if the client has received everything.
            (200, 200, nil, true, nil, false, nil), (404, 404, nil, true, nil, false, "404"),
            (500, 500, nil, true, "500", true, "500"),
            (403, nil, "destination-denied", true, "destination-denied", false, nil),
            (502, nil, "dns-failure", true, "dns-failure", true, "dns-failure"),
            (502, 200, "response-body", true, "response-body", true, "response-body"),
            // The placeholder of a route.
            (200, nil, "upstream-timeout", true, nil, false, "upstream-timeout"),
            (200, 200, nil, false, "incomplete", true, "incomplete"),
            (nil, nil, nil, false, "incomplete", true, "incomplete"),
        ] as [(Int?, Int?, String?, Bool, String?, Bool, String?)])
    func `errors have a type, and those of the proxy a status`(
        status: Int?, upstream: Int?, problem: String?, isComplete: Bool, server: String?, isFailure: Bool,
        client: String?
    ) throws {
        var record = self.record("http://a.test/", status: status)
        record.upstreamStatus = upstream
        let isSent = problem != "destination-denied"
        var trace = try self.sent("http://a.test/", problem: problem)
        if !isSent { trace.sent = nil }
        let spans = self.spans(record, trace, isComplete: isComplete)
        #expect(spans[0]["error.type"] == server.map { .text($0) })
        #expect((spans[0].status != .unset) == isFailure)
        guard isSent else { return }
        #expect(spans[1]["error.type"] == client.map { .text($0) })
        #expect((spans[1].status != .unset) == (client != nil))
    }

    // MARK: Attributes

    @Test(arguments: [("GET", "GET", nil), ("get", "_OTHER", "get"), ("PURGE", "_OTHER", "PURGE")])
    func `methods that clients invent are no values`(method: String, value: String, original: String?) throws {
        let spans = self.spans(
            self.record("http://a.test/", status: 200, method: method), try self.sent("http://a.test/", method: method))
        for span in spans {
            #expect(span.name == (value == "GET" ? "GET" : "HTTP"))
            #expect(span["http.request.method"] == .text(value))
            #expect(span["http.request.method_original"] == original.map { .text($0) })
        }
    }

    @Test func `a tunnel has a destination and no URL`() {
        var record = self.record("a.test:443", status: 200, method: "CONNECT")
        (record.host, record.mode) = ("a.test:443", "tunnel")
        let spans = self.spans(record, self.trace())
        #expect(spans.count == 1 && spans[0].name == "CONNECT")
        #expect(spans[0]["server.address"] == .text("a.test") && spans[0]["server.port"] == .number(443))
        #expect(!spans[0].attributes.contains { $0.key.hasPrefix("url.") })
    }

    @Test func `a gateway's request has the URL that its client meant, and the origin's its own`() throws {
        var record = self.record("/api/users?id=7", status: 200)
        record.host = "site.test:8080"
        let spans = self.spans(record, try self.sent("https://[::1]:9443/users?id=7"), redaction: .off)
        #expect(spans[0]["url.full"] == .text("http://site.test:8080/api/users?id=7"))
        #expect(spans[0]["url.path"] == .text("/api/users") && spans[0]["url.query"] == .text("id=7"))
        #expect(spans[0]["url.scheme"] == .text("http") && spans[0]["server.port"] == .number(8080))
        #expect(spans[1]["url.full"] == .text("https://[::1]:9443/users?id=7"))
        #expect(spans[1]["server.address"] == .text("::1") && spans[1]["server.port"] == .number(9443))
    }

    @Test func `a request without a target has what is left`() {
        var record = self.record(nil, status: 400)
        (record.method, record.client) = (nil, nil)
        let spans = self.spans(record, self.trace())
        #expect(spans[0].name == "HTTP" && spans[0]["http.request.method"] == .text("_OTHER"))
        #expect(spans[0]["url.full"] == nil && spans[0]["server.address"] == nil && spans[0]["client.address"] == nil)
    }

    @Test func `a client of a Unix socket has no address of a network`() {
        var record = self.record("http://a.test/", status: 200)
        record.client = "unix:1000"
        let span = self.spans(record, self.trace())[0]
        #expect(span["client.address"] == .text("unix:1000") && span["network.transport"] == .text("unix"))
        #expect(span["network.peer.address"] == nil)
    }

    @Test(
        arguments: [
            ("192.0.2.1", "192.0.2.1", nil), ("2001:db8::1", "2001:db8::1", nil), ("192.0.2.1:80", "192.0.2.1", 80),
            ("[2001:db8::1]:443", "2001:db8::1", 443),
        ] as [(String, String, Int?)])
    func `the peer has a port if it is known`(address: String, peer: String, port: Int?) throws {
        var record = self.record("http://a.test/", status: 200)
        record.address = address
        let span = self.spans(record, try self.sent("http://a.test/"))[1]
        #expect(span["network.peer.address"] == .text(peer))
        #expect(span["network.peer.port"] == port.map { .number($0) })
    }

    @Test func `no span ends before it began`() throws {
        var record = self.record("http://a.test/", status: 200)
        record.duration = .milliseconds(-5)
        var trace = try self.sent("http://a.test/")
        trace.originEnd = .zero
        for span in self.spans(record, trace) { #expect(span.end >= span.start) }
    }
}

extension TraceSpan {
    fileprivate subscript(_ key: String) -> Value? { self.attributes.first { $0.key == key }?.value }
}
