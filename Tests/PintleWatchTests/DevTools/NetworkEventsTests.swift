// SPDX-License-Identifier: Apache-2.0

import PintleActivity
import PintleMessage
import PintlePolicy
import PintleSerialization
import Testing

@testable import PintleWatch

/// Exchanges in the form of the Chrome DevTools Protocol.
struct NetworkEventsTests {
    /// A request to a pinned origin, over a new connection.
    private static var record: ExchangeRecord {
        var record = ExchangeRecord(time: Timestamp(milliseconds: 1_767_225_600_250), id: "a-1")
        (record.method, record.url, record.mode) = ("POST", "https://api.pay.example/v1/charges?key=k", "intercept")
        (record.address, record.http, record.tls, record.reused) = ("2001:db8::7", "2", "TLSv1.3", false)
        (record.route, record.rule, record.decision) = ("charge", "routes[0]", "allow")
        (record.trust, record.pin, record.assurance) = ("payments", "sha256/AAAA", "probed")
        (record.status, record.upstreamStatus, record.bytesIn, record.bytesOut) = (201, 201, 12, 512)
        (record.connect, record.tlsHandshake) = (.milliseconds(20), .milliseconds(30))
        (record.firstByte, record.duration) = (.microseconds(80_500), .milliseconds(90))
        record.source = .origin
        return record
    }

    private static let request: Fields = ["Host": "api.pay.example", "Authorization": "Bearer x", "Accept": "*/*"]
    private static let response: Fields = [
        "Content-Type": "application/json; charset=utf-8", "Vary": "Accept", "vary": "Origin", "Pintle-Route": "forged",
    ]

    private static func events(
        _ record: ExchangeRecord, _ request: Fields = Self.request, _ response: Fields = Self.response,
        isComplete: Bool = true, certificate: NetworkEvents.Certificate? = nil
    ) throws -> [Event] {
        try NetworkEvents(
            ShownExchange(record, request: request, response: response, redaction: .on), number: 42,
            isComplete: isComplete, port: 443, certificate: certificate
        ).messages.map { message in
            let document = try JSONScanner().parse(message)
            guard case .string(let method)? = document["method"], let parameters = document["params"] else {
                throw NoEvent()
            }
            return Event(method: method, parameters: parameters, text: String(decoding: message, as: UTF8.self))
        }
    }

    private struct NoEvent: Error {}

    private struct Event {
        let method: String
        let parameters: Parameter
        let text: String
    }

    /// Each event on a line of its own, as its method and its parameters.
    private static func text(_ events: [Event]) -> String {
        events.map { event in
            let prefix = #"{"method":"\#(event.method)","params":"#
            #expect(event.text.hasPrefix(prefix))
            return "\(event.method) \(event.text.dropFirst(prefix.count).dropLast())"
        }.joined(separator: "\n")
    }

    @Test func `texts are escaped, and names of fields whose lines are joined`() throws {
        var record = Self.record
        record.error = "a \"b\" \\ \n\r\t\u{1}\u{1f} é\u{2028}"
        let fields: Fields = ["a": "1\"", "B": "2", "A": "3", "b": "4", "X-\"": "5"]
        let events = try Self.events(record, [:], fields, isComplete: false)
        #expect(events.last?.parameters["errorText"] == .string(record.error ?? ""))
        let headers = events[1].parameters["response"]?["headers"]
        #expect(headers?["a"] == "1\"\n3" && headers?["B"] == "2\n4" && headers?["X-\""] == "5", "\(headers ?? .null)")
        #expect(headers?["A"] == nil)
    }

    @Test func `an exchange has all of its events, with the times at which they happened`() throws {
        let certificate = NetworkEvents.Certificate(
            subject: "CN=api.pay.example", issuer: "CN=Issuer", validity: 1_700_000_000...1_800_000_000)
        let text = Self.text(try Self.events(Self.record, certificate: certificate))
        #expect(
            text == """
                Network.requestWillBeSent {"requestId":"42","timestamp":1767225600.25,"loaderId":"pintle","frameId":"pintle",\
                "documentURL":"","request":{"url":"https://api.pay.example/v1/charges?key=***","method":"POST","headers":\
                {"Host":"api.pay.example","Authorization":"***","Accept":"*/*"},"hasPostData":false,"initialPriority":"Medium",\
                "referrerPolicy":"no-referrer"},"wallTime":1767225600.25,"initiator":{"type":"other"},\
                "redirectHasExtraInfo":false,"type":"Fetch"}
                Network.responseReceived {"requestId":"42","timestamp":1767225600.3305,"loaderId":"pintle",\
                "frameId":"pintle","type":"Fetch","hasExtraInfo":false,"response":\
                {"url":"https://api.pay.example/v1/charges?key=***","status":201,"statusText":"","headers":\
                {"Content-Type":"application/json; charset=utf-8","Vary":"Accept\\nOrigin","pintle-id":"a-1",\
                "pintle-mode":"intercept","pintle-route":"charge","pintle-rule":"routes[0]","pintle-decision":"allow",\
                "pintle-trust":"payments","pintle-pin":"sha256/AAAA","pintle-assurance":"probed","pintle-source":"origin"},\
                "requestHeaders":{"Host":"api.pay.example","Authorization":"***","Accept":"*/*"},\
                "mimeType":"application/json","charset":"","connectionReused":false,"connectionId":0,\
                "remoteIPAddress":"2001:db8::7","remotePort":443,"fromDiskCache":false,"encodedDataLength":0,\
                "timing":{"requestTime":1767225600.25,"proxyStart":-1,"proxyEnd":-1,"dnsStart":-1,"dnsEnd":-1,\
                "connectStart":0.0,"connectEnd":50.0,"sslStart":20.0,"sslEnd":50.0,"workerStart":-1,"workerReady":-1,\
                "workerFetchStart":-1,"workerRespondWithSettled":-1,"sendStart":50.0,"sendEnd":50.0,"pushStart":0,\
                "pushEnd":0,"receiveHeadersStart":80.5,"receiveHeadersEnd":80.5},"protocol":"h2",\
                "securityState":"secure","securityDetails":{"protocol":"TLS 1.3","keyExchange":"","cipher":"",\
                "certificateId":0,"subjectName":"CN=api.pay.example","sanList":[],"issuer":"CN=Issuer",\
                "validFrom":1700000000,"validTo":1800000000,"signedCertificateTimestampList":[],\
                "certificateTransparencyCompliance":"unknown","encryptedClientHello":false}}}
                Network.dataReceived {"requestId":"42","timestamp":1767225600.34,"dataLength":512,"encodedDataLength":512}
                Network.loadingFinished {"requestId":"42","timestamp":1767225600.34,"encodedDataLength":512}
                """)
    }

    @Test func `a refused exchange is a failed one, with Pintle's sentence`() throws {
        var record = ExchangeRecord(time: Timestamp(milliseconds: 1000), id: "a-2")
        (record.method, record.url, record.mode) = ("GET", "http://x.ads.example/", "forward")
        (record.decision, record.rule, record.status) = ("deny", "destinations.deny[0]", 403)
        (record.source, record.bytesOut, record.duration) = (.pintle, 0, .milliseconds(1))
        record.error = "x.ads.example is denied by destinations.deny[0]"
        let events = try Self.events(record, [:], [:], isComplete: false)
        #expect(
            events.map(\.method) == [
                "Network.requestWillBeSent", "Network.responseReceived", "Network.loadingFailed",
            ])
        #expect(
            Self.text([events[2]]) == """
                Network.loadingFailed {"requestId":"42","timestamp":1.001,"type":"Other",\
                "errorText":"x.ads.example is denied by destinations.deny[0]","canceled":false,"blockedReason":"other"}
                """)
        let response = events[1].parameters["response"]
        #expect(response?["headers"]?["pintle-rule"] == "destinations.deny[0]")
        #expect(response?["securityState"] == "insecure" && response?["remoteIPAddress"] == nil)
    }

    @Test func `an exchange without an answer has failed, and nothing was blocked`() throws {
        var record = Self.record
        (record.status, record.decision, record.error) = (nil, "error", "api.pay.example cannot be reached")
        let events = try Self.events(record, isComplete: false)
        #expect(events.map(\.method) == ["Network.requestWillBeSent", "Network.loadingFailed"])
        #expect(events[1].parameters["errorText"] == "api.pay.example cannot be reached")
        #expect(events[1].parameters["blockedReason"] == nil)
    }

    @Test func `over a kept connection there was no handshake`() throws {
        var record = Self.record
        (record.connect, record.tlsHandshake, record.reused) = (nil, nil, true)
        let response = try Self.events(record)[1].parameters["response"]
        let timing = response?["timing"]
        #expect(response?["connectionReused"] == true)
        #expect(timing?["connectStart"] == -1 && timing?["connectEnd"] == -1 && timing?["sslStart"] == -1)
        #expect(timing?["sendStart"] == .number(0) && timing?["receiveHeadersEnd"] == .number(80.5))
    }

    @Test func `times are in order, whatever the record says`() throws {
        var record = Self.record
        (record.connect, record.tlsHandshake) = (.seconds(5), .seconds(5))
        record.firstByte = .milliseconds(1)
        let timing = try Self.events(record)[1].parameters["response"]?["timing"]
        for name in ["connectEnd", "sslEnd", "sendEnd", "receiveHeadersEnd"] {
            #expect(timing?[name] == .number(90), "\(name)")
        }
    }

    @Test func `a tunnel is an exchange with its destination, and a stored response is from a cache`() throws {
        var record = ExchangeRecord(time: Timestamp(milliseconds: 0), id: "a-3")
        (record.method, record.url, record.mode, record.status) = ("CONNECT", "a.example:443", "tunnel", 200)
        record.address = "192.0.2.1"
        let tunnel = try Self.events(record, [:], [:])
        #expect(tunnel[0].parameters["request"]?["url"] == "https://a.example:443/")
        #expect(tunnel[1].parameters["response"]?["remoteIPAddress"] == "192.0.2.1")
        #expect(tunnel[1].parameters["response"]?["remotePort"] == 443)
        record = Self.record
        (record.source, record.cache) = (.cache, "hit")
        let response = try Self.events(record)[1].parameters["response"]
        #expect(response?["fromDiskCache"] == true && response?["headers"]?["pintle-cache"] == "hit")
    }

    @Test(arguments: [
        ("document", "", "Document"), ("style", "", "Stylesheet"), ("image", "text/html", "Image"),
        ("", "font/woff2", "Font"),
        ("empty", "text/html", "Fetch"), ("", "text/html; charset=utf-8", "Document"), ("", "TEXT/CSS", "Stylesheet"),
        ("", "text/javascript", "Script"), ("", "application/problem+json", "Fetch"), ("", "video/mp4", "Media"),
        ("", "", "Other"), ("new", "application/octet-stream", "Other"), ("", "html", "Other"),
    ])
    func `the use of a resource is told by the browser, or by its type`(
        destination: String, contentType: String, expected: String
    ) throws {
        let request: Fields = destination.isEmpty ? [:] : ["Sec-Fetch-Dest": destination]
        let events = try Self.events(Self.record, request, contentType.isEmpty ? [:] : ["Content-Type": contentType])
        #expect(events[0].parameters["type"] == .string(expected))
    }
}
