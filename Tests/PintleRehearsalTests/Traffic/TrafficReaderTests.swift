// SPDX-License-Identifier: Apache-2.0

import PintleActivity
import PintleMessage
import PintlePolicy
import PintleSerialization
import PintleTesting
import PintleWatch
import Testing

@testable import PintleRehearsal

/// Logs and archives, read back.
@Suite struct TrafficReaderTests {
    private static func read(_ text: String, pieces size: Int = .max) -> ([RecordedExchange], TrafficReader.Summary) {
        var (reader, found) = (TrafficReader(), [RecordedExchange]())
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: min(size, max(1, bytes.count))) {
            let piece = Array(bytes[start..<min(bytes.count, start + min(size, bytes.count))])
            piece.withUnsafeBytes { reader.feed($0) { found.append($0) } }
        }
        reader.finish { found.append($0) }
        return (found, reader.summary)
    }

    private static func record(_ id: String, _ method: String, _ url: String) -> ExchangeRecord {
        var record = ExchangeRecord(time: Timestamp(milliseconds: 1_767_323_045_678), id: id)
        (record.method, record.url, record.mode) = (method, url, method == "CONNECT" ? "tunnel" : "forward")
        (record.decision, record.status) = ("allow", 200)
        return record
    }

    private static func line(_ record: ExchangeRecord, _ format: LogFormat, _ redaction: Redaction = .on) -> String {
        var bytes: [UInt8] = []
        ExchangeEncoder(format: format, redaction: redaction).encode(record, into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: Logs

    @Test(arguments: LogFormat.allCases) func `a line of the log gives the request and its decisions`(
        format: LogFormat
    ) throws {
        var record = Self.record("a1", "POST", "https://api.example.com:8443/v1/x?token=s&b")
        (record.route, record.rule) = ("charge", "destinations.deny[3] \"*.ads.example\"")
        (record.decision, record.trust, record.bytesIn) = ("would-deny", "payments", 12)
        record.address = "[2001:db8::7]:8443"
        (record.violations, record.error) = ([.responseBody, .pinMismatch], "it's \"odd\" \n")
        let (found, summary) = Self.read(Self.line(record, format))
        let exchange = try #require(found.first)
        #expect(summary.exchanges == 1 && summary.faults == 0)
        #expect(exchange.url == "https://api.example.com:8443/v1/x?token=***&***")
        #expect(exchange.head.method == "POST" && exchange.head.fields["Content-Length"] == "12")
        #expect(exchange.id == "a1" && exchange.time == "2026-01-02T03:04:05.678Z" && exchange.line == 1)
        #expect(exchange.unknown == .init(hasQuery: true, hasFields: true))
        #expect(exchange.address == IPAddress("2001:db8::7"))
        #expect(
            exchange.outcome
                == .init(
                    decision: "would-deny", rule: record.rule, route: "charge", trust: "payments", status: 200,
                    violations: ["response-body", "pin-mismatch"]))
    }

    @Test(arguments: LogFormat.allCases) func `tunnels, paths and asterisks are targets, too`(format: LogFormat) throws
    {
        var gateway = Self.record("g", "GET", "/inside")
        (gateway.host, gateway.mode) = ("localhost:3128", "gateway")
        var asterisk = Self.record("s", "OPTIONS", "")
        asterisk.url = nil
        let records = [Self.record("t", "CONNECT", "[2001:db8::1]:443"), gateway, asterisk]
        let (found, _) = Self.read(records.map { Self.line($0, format) }.joined())
        let targets: [RequestTarget] = [
            .authority(try #require(Authority("[2001:db8::1]", defaultPort: 443))), .origin(path: "/inside"), .asterisk,
        ]
        #expect(found.map(\.head.target) == targets)
        #expect(found.map { $0.head.fields["Host"] }[1] == "localhost:3128")
        #expect(found.map(\.line) == [1, 2, 3])
    }

    @Test func `only a masked query is unknown`() {
        let record = Self.record("q", "GET", "http://a.example/?x=1&y=2")
        #expect(Self.read(Self.line(record, .json)).0.map(\.unknown.hasQuery) == [true])
        let (open, _) = Self.read(Self.line(record, .json, .off))
        #expect(open.map(\.unknown.hasQuery) == [false] && open.map(\.url) == ["http://a.example/?x=1&y=2"])
    }

    @Test func `a refused POST may have had a body`() {
        var record = Self.record("p", "POST", "http://a.example/")
        record.decision = "deny"
        #expect(Self.read(Self.line(record, .json)).0.map(\.unknown.hasBodyPresence) == [true])
        #expect(Self.read(Self.line(Self.record("p", "GET", "http://a/"), .json)).0[0].unknown.hasBodyPresence == false)
    }

    @Test func `messages of the log are passed over, and malformed lines are counted`() {
        let good = Self.line(Self.record("a", "GET", "http://a.example/"), .json)
        let message = #"{"time":"2026-01-02T03:04:05.678Z","level":"info","message":"listening"}"# + "\n"
        let text = message + good + "\r\n\n" + "{\"id\":\"x\"}\nno json\n" + good + "{\"time\":\"2026"
        let (found, summary) = Self.read(text)
        #expect(found.map(\.line) == [2, 7])
        #expect(summary.exchanges == 2 && summary.others == 2 && summary.faults == 2)
        #expect(summary.firstFault == .init(line: 6, reason: "no JSON: expected “{” or “[”, found “n”"))

        let words =
            "2026-01-02T03:04:05.678Z info  listening on=127.0.0.1:1\n"
            + Self.line(
                Self.record("a", "GET", "http://a.example/"), .text) + "something else\n"
        let plain = Self.read(words)
        #expect(plain.0.map(\.line) == [2] && plain.1.others == 1)
        #expect(
            plain.1.firstFault?.description == "line 3: neither a line of Pintle's log nor an HTTP archive (HAR)")
    }

    @Test(arguments: [
        (
            #"{"id":"a","method":"GET","url":"http://a b/"}"#,
            "the request target has a byte that must be percent-encoded"
        ),
        (#"{"id":"a","method":"G T","url":"http://a/"}"#, ""), (#"{"id":"a","method":"GET"}"#, "the line has no url"),
        (#"{"id":"a","method":"GET","url":"/x"}"#, "a request with a path has no host"),
        (#"{"id":"a","method":"GET","url":"http://a/ HTTP/1.1\r\nX: y\r\n\r\nGET /"}"#, ""),
        (#"{"x":1}"#, "neither an exchange nor a message of Pintle's log"), ("[1]", ""),
    ])
    func `a line that is no request has a reason`(line: String, reason: String) throws {
        let (found, summary) = Self.read(#"{"id":"a","method":"GET","url":"http://a/"}"# + "\n" + line + "\n")
        #expect(found.count == 1 && summary.faults == 1)
        let fault = try #require(summary.firstFault)
        #expect(fault.line == 2)
        if !reason.isEmpty { #expect(fault.reason == reason) }
    }

    @Test func `a line over the limit is counted, and the next one is read`() {
        let long = "{\"id\":\"" + String(repeating: "x", count: TrafficReader.longestPart) + "\"}\n"
        let (found, summary) = Self.read(long + Self.line(Self.record("a", "GET", "http://a/"), .json), pieces: 1 << 20)
        #expect(found.map(\.line) == [2])
        #expect(summary.firstFault == .init(line: 1, reason: "longer than 32 MiB"))
    }

    @Test func `pieces of any size give the same`() {
        let lines = (0..<20).map { Self.line(Self.record("\($0)", "GET", "http://host\($0).example/p?q=\($0)"), .json) }
        let archive = Self.archive()
        for text in [lines.joined(), archive, "\u{FEFF}" + lines.joined(), "\n \n" + archive] {
            let whole = Self.read(text)
            #expect(!whole.0.isEmpty && whole.1.faults == 0)
            for size in [1, 2, 7, 1000] { #expect(Self.read(text, pieces: size) == whole) }
        }
    }

    // MARK: Archives

    private static func archive() -> String {
        var record = Self.record("e1", "GET", "https://api.example.com/v1?key=secret&n=1")
        (record.route, record.trust, record.mode) = ("charge", "payments", "intercept")
        let fields: Fields = [
            "Accept": "*/*", "Authorization": "Bearer x", "X-Env": "stage", "Host": "api.example.com",
        ]
        let shown = ShownExchange(record, request: fields, response: ["Server": "s"], redaction: .on)
        var tunnel = Self.record("e2", "CONNECT", "api.example.com:8443")
        (tunnel.decision, tunnel.rule) = ("deny", "destinations.default")
        let other = ShownExchange(tunnel, request: Fields(), response: Fields(), redaction: .on)
        return HAREntry.archive([HAREntry(shown).parameter, HAREntry(other).parameter], version: "1").jsonText
    }

    @Test func `an archive of Pintle has its decisions, and masked fields are unknown`() throws {
        let (found, summary) = Self.read(Self.archive())
        try #require(found.count == 2 && summary.faults == 0)
        #expect(found[0].url == "https://api.example.com/v1?key=***&n=***" && found[0].unknown.hasQuery)
        #expect(found[0].unknown.fields == ["authorization"] && found[0].unknown.hides(field: "Authorization"))
        #expect(!found[0].unknown.hides(field: "Cookie"))
        #expect(found[0].head.fields.pairs.map(\.name) == ["Host", "Accept", "X-Env"])
        #expect(found[0].outcome.route == "charge" && found[0].outcome.trust == "payments" && found[0].id == "e1")
        #expect(found[0].responseFields["Server"] == "s")
        #expect(found[1].url == "api.example.com:8443" && found[1].outcome.decision == "deny")
        #expect(found[1].line > found[0].line)
    }

    @Test func `an archive of Pintle has requests without a URL, of which only those for all of a server count`() {
        var records = [Self.record("s", "OPTIONS", ""), Self.record("m", "", ""), Self.record("g", "GET", "")]
        for index in records.indices { records[index].url = nil }
        records[1].method = nil
        let entries = records.map { record in
            HAREntry(ShownExchange(record, request: ["Host": "a.example"], response: Fields(), redaction: .on))
                .parameter
        }
        let (found, summary) = Self.read(HAREntry.archive(entries, version: "1").jsonText)
        #expect(found.map(\.head.target) == [.asterisk] && found.first?.head.fields["Host"] == "a.example")
        #expect(summary.others == 2 && summary.faults == 0)
    }

    private static func archive(by creator: String, _ entries: String...) -> String {
        #"{"log":{"version":"1.2","creator":{"name":"\#(creator)","version":"1"},"pages":[{"id":"p{}"}],"entries":["#
            + entries.joined(separator: ",") + #"],"comment":"]}"}}"#
    }

    @Test func `an archive of Chromium may lack fields with secrets`() throws {
        let entry = #"""
            {"request": {"method": "POST", "url": "https://user:pw@api.example.com/a?q=1#f", "bodySize": 3,
            "headers": [{"name": ":authority", "value": "api.example.com"}, {"name": ":method", "value": "POST"},
            {"name": "cookie", "value": "a=1"}, {"name": "X-A", "value": "1\n2"}, {"name": "content-length", "value": "9"}],
            "postData": {"mimeType": "text/plain", "text": "{\"]"}}, "response": {"status": 0}}
            """#
        let (found, summary) = Self.read(Self.archive(by: "WebInspector", entry))
        #expect(summary.faults == 0)
        let exchange = try #require(found.first)
        #expect(exchange.url == "https://api.example.com/a?q=1")
        #expect(exchange.unknown.fields == ["authorization", "proxy-authorization"])
        #expect(exchange.head.fields.values(of: "X-A") == ["1", "2"])
        #expect(exchange.head.fields["Content-Length"] == "3" && exchange.body == Array("{\"]".utf8))
        #expect(exchange.outcome.status == nil)
    }

    @Test func `an archive of mitmproxy has everything, and a request without any field was not kept whole`() throws {
        let entry = #"""
            {"request":{"method":"GET","url":"http://a.example/","headers":[{"name":"Host","value":"a.example"}],"bodySize":0}}
            """#
        let bare = #"{"request":{"method":"GET","url":"http://a.example/","headers":[],"bodySize":0}}"#
        let (found, _) = Self.read(Self.archive(by: "mitmproxy", entry, bare))
        #expect(found.map(\.unknown) == [.init(), .init(hasFields: true)])
    }

    @Test func `an entry that reaches no proxy is passed over, and a malformed one is named by its line`() {
        let data = #"{"request":{"method":"GET","url":"data:image/png;base64,x","headers":[]}}"#
        let web = #"{"request":{"method":"GET","url":"wss://a.example/s","headers":[]}}"#
        let odd = "\n" + #"{"request":{"method":"GET","url":"http://","headers":[]}}"#
        let bare = #"{"response":{}}"#
        let (found, summary) = Self.read(Self.archive(by: "x", data, web, odd, bare))
        #expect(found.map(\.url) == ["https://a.example/s"])
        #expect(summary.others == 1 && summary.faults == 2 && summary.firstFault?.line == 2)
    }

    @Test func `an archive that ends early says so`() {
        let whole = Self.archive()
        let (found, summary) = Self.read(String(whole.prefix(whole.count - 40)))
        #expect(found.count == 1)
        #expect(summary.firstFault?.reason == "the file ends within the archive")
    }

    @Test func `random bytes are read to their end`() {
        let seed = Seed.ofThisRun
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "{\"log\":{", "\"entries\":[", "{", "}", "]", "\"", "\\", "time=", "a=", "\n", ",", ":", "x", "\u{FEFF}",
        ]
        for _ in 0..<2000 {
            let text = (0..<Int.random(in: 0..<40, using: &generator)).map { _ in
                pieces[Int.random(in: 0..<pieces.count, using: &generator)]
            }.joined()
            let whole = Self.read(text)
            #expect(Self.read(text, pieces: 1) == whole, "seed \(seed): \(text.debugDescription)")
        }
    }
}
