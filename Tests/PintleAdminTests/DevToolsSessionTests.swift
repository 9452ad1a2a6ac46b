// SPDX-License-Identifier: Apache-2.0

import PintleActivity
import PintleMessage
import PintlePolicy
import PintleProxy
import PintleSerialization
import Testing

@testable import PintleAdmin

/// The commands of developer tools, and the exchanges that they get.
struct DevToolsSessionTests {
    private let recent = RecentExchanges(exchanges: 3000)

    private func end(_ numbers: Range<Int>) {
        for number in numbers {
            var record = ExchangeRecord(time: Timestamp(milliseconds: 0), id: "a-\(number)")
            (record.method, record.url, record.status) = ("GET", "http://a.example/\(number)?token=hidden", 200)
            self.recent.keep(
                KeptRecord(
                    ObservedExchange(record: record, target: .origin(path: "/\(number)"), isComplete: true)))
        }
    }

    private func session(following: Bool = true) -> DevToolsSession {
        var session = DevToolsSession(self.recent)
        if following { _ = session.answer(Array(#"{"id": 1, "method": "Network.enable"}"#.utf8), .on) }
        return session
    }

    private func answer(_ text: String) -> String {
        var session = self.session(following: false)
        return String(decoding: session.answer(Array(text.utf8), .on), as: UTF8.self)
    }

    /// The messages of the next interval.
    private func events(_ session: inout DevToolsSession, _ redaction: Redaction = .on) throws -> [Parameter] {
        var messages: [[UInt8]] = []
        session.events(under: try Self.policy(""), redaction, at: Timestamp(milliseconds: 7000)) { messages.append($0) }
        return try messages.map { try JSONScanner().parse($0) }
    }

    private static func policy(_ rules: String) throws -> Policy {
        try PolicyLoader.policy(
            yaml: Array("version: 1\n\(rules)".utf8), file: "pintle.yaml", surroundings: .system(environment: [:]))
    }

    private func urls(_ messages: [Parameter]) -> [String] {
        messages.compactMap { message in
            guard case .string(let url) = message["params"]?["request"]?["url"] else { return nil }
            return url
        }
    }

    // MARK: Commands

    @Test(arguments: [
        "Network.enable", "Network.disable", "Page.enable", "Runtime.enable", "Log.enable", "Target.setAutoAttach",
        "Target.setDiscoverTargets", "Runtime.runIfWaitingForDebugger",
    ])
    func `a command that the front end needs has an empty result`(method: String) {
        #expect(self.answer(#"{"id": 7, "method": "\#(method)", "params": {}}"#) == #"{"id":7,"result":{}}"#)
    }

    @Test func `all others are unknown`() {
        let unknown = #"{"id":8,"error":{"code":-32601,"message":"'DOM.enable' is unknown to Pintle"}}"#
        #expect(self.answer(#"{"id": 8, "method": "DOM.enable"}"#) == unknown)
    }

    @Test(arguments: ["Network.getResponseBody", "Network.getRequestPostData"])
    func `a body that is not kept is refused with the reason`(method: String) {
        func message(_ id: String) -> String {
            self.answer(#"{"id": 9, "method": "\#(method)", "params": {"requestId": \#(id)}}"#)
        }
        func refusal(_ reason: String) -> String { #"{"id":9,"error":{"code":-32000,"message":"\#(reason)"}}"# }
        let unknown = refusal("there is no such exchange, or it is forgotten")
        for id in [#""1""#, #""0""#, #""-1""#, #""18446744073709551615""#, "1", "null"] {
            #expect(message(id) == unknown, "\(id)")
        }
        self.end(0..<1)
        #expect(
            message(#""1""#)
                == refusal("no body is kept; `capture` in the configuration says of which exchanges"))
    }

    @Test func `there is one frame`() throws {
        let answer = try JSONScanner().parse(Array(self.answer(#"{"id": 1, "method": "Page.getResourceTree"}"#).utf8))
        #expect(answer["result"]?["frameTree"]?["frame"]?["id"] == "pintle")
    }

    @Test(arguments: [
        "", "x", "[]", "7", "{}", #"{"id": 1}"#, #"{"method": "Page.enable"}"#,
        #"{"id": "1", "method": "Page.enable"}"#,
        #"{"id": 1, "method": 2}"#, String(repeating: "[", count: 100_000), "\u{0}",
    ])
    func `bytes that are no command have an error without an id`(text: String) {
        #expect(self.answer(text).hasPrefix(#"{"error":{"code":-32600,"#), "\(text.prefix(40))")
    }

    // MARK: Events

    @Test func `nothing comes before Network is enabled, nor after it is disabled`() throws {
        self.end(0..<3)
        var session = self.session(following: false)
        #expect(try self.events(&session).isEmpty)
        session = self.session()
        #expect(try !self.events(&session).isEmpty)
        self.end(3..<6)
        _ = session.answer(Array(#"{"id": 2, "method": "Network.disable"}"#.utf8), .on)
        #expect(try self.events(&session).isEmpty)
    }

    @Test func `the latest exchanges come first, then those that end`() throws {
        self.end(0..<800)
        var session = self.session()
        var urls: [String] = []
        for _ in 0..<5 { urls += self.urls(try self.events(&session)) }
        #expect(urls == (300..<800).map { "http://a.example/\($0)?token=***" })
        #expect(try self.events(&session).isEmpty)
        self.end(800..<802)
        #expect(self.urls(try self.events(&session)).count == 2)
        #expect(try self.events(&session).isEmpty)
    }

    @Test func `the events of an exchange are in order, and without secrets`() throws {
        self.end(0..<1)
        var session = self.session()
        let methods = try self.events(&session).map { $0["method"] }
        #expect(
            methods == ["Network.requestWillBeSent", "Network.responseReceived", "Network.loadingFinished"])
        session = self.session()
        #expect(self.urls(try self.events(&session, .off)) == ["http://a.example/0?token=hidden"])
    }

    @Test func `a client that falls behind is told the number of exchanges that it has missed`() throws {
        var session = self.session()
        self.end(0..<5000)
        let messages = try self.events(&session)
        let entry = messages.first?["params"]?["entry"]
        #expect(messages.first?["method"] == "Log.entryAdded")
        #expect(entry?["text"] == "4900 exchanges are not shown: more have ended than are sent here")
        #expect(entry?["level"] == "warning" && entry?["timestamp"] == 7000)
        #expect(self.urls(messages).first == "http://a.example/4900?token=***" && self.urls(messages).count == 100)
    }

    @Test func `the port is that of the route's upstream or of the destination, and unknown behind an upstream proxy`()
        throws
    {
        let route = "routes: [{name: api, match: {hosts: [a.example]}, upstream: \"https://b.example:8443/\"}]"
        var record = ExchangeRecord(time: Timestamp(milliseconds: 0), id: "a-1")
        (record.host, record.url) = ("a.example", "http://a.example/")
        #expect(try Self.policy("").remotePort(of: record) == 80)
        record.host = "a.example:8080"
        #expect(try Self.policy(route).remotePort(of: record) == 8080)
        record.route = "api"
        #expect(try Self.policy(route).remotePort(of: record) == 8443)
        #expect(try Self.policy("").remotePort(of: record) == 8080)
        (record.host, record.url, record.route) = ("a.example", "https://a.example/", nil)
        #expect(try Self.policy("").remotePort(of: record) == 443)
        #expect(
            try Self.policy("upstream_proxy: {url: \"http://proxy.example:3128\"}").remotePort(of: record) == nil)
    }
}
