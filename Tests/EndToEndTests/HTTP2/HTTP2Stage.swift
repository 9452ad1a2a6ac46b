// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import PintleTrust

/// A proxy that intercepts tunnels to `origin.test`; their requests go to an origin that remembers them byte for byte.
struct HTTP2Stage {
    let folder: TemporaryFolder
    let origin: RawOrigin
    let pintle: PintleProcess

    /// - Parameters:
    ///   - more: of the configuration.
    ///   - route: more keys of the route, each as `key: value` in one line.
    ///   - port: of another origin, that requests go to in place of this one.
    ///   - scheme: that the origin is spoken to by.
    ///   - script: of the origin; it answers each request with `ok` and closes unless given.
    init(
        _ more: String = "", route: [String] = [], leadingTo port: Int? = nil, by scheme: String = "http",
        serving script: RawOrigin.Script? = nil
    ) throws {
        self.folder = try TemporaryFolder()
        try AuthorityFolder("\(self.folder.path)/pintle/ca").keep(try CertificateAuthority(named: "Test CA"))
        let answering: RawOrigin.Script = { connection in
            _ = try connection.readRequest()
            try connection.send(response("ok", fields: "Connection: close\r\n"))
        }
        self.origin = try RawOrigin(script ?? answering)
        self.pintle = try PintleProcess(
            """
            \(more)
            routes:
              - name: origin
                match: {hosts: [origin.test]}
                connect: intercept
                upstream: "\(scheme)://127.0.0.1:\(port ?? self.origin.port)"
            \(route.map { "    \($0)" }.joined(separator: "\n"))
            """,
            environment: ["XDG_DATA_HOME": self.folder.path], folder: self.folder)
    }

    /// A client in a tunnel, that has said nothing.
    func client() throws -> HTTP2Client {
        let stream = try TLSStream(to: "origin.test:443", through: self.pintle.port, protocols: ["h2"])
        guard stream.chosenProtocol == "h2" else { throw TestFailure("HTTP/2 is not chosen") }
        return HTTP2Client(stream)
    }

    /// The parts of turns that have held a loop up by themselves. A turn of a debug build that has many of them is no such part.
    /// Under a sanitizer everything is slow.
    var heldUp: [String] {
        if runsUnderSanitizer { return [] }
        return self.pintle.slowTurns.filter { line in
            let number = line.components(separatedBy: "\"doing_ms\":").last?.prefix { $0.isNumber } ?? ""
            return Int(number) ?? .max >= 10
        }
    }

    // MARK: Cases

    /// Plays a case.
    ///
    /// - Returns: the outcome, in the words of ``expectation(of:)``.
    func outcome(of one: HTTP2Case) throws -> String {
        let client = try self.client()
        if !one.isRaw { try client.greet() }
        var before = self.origin.requests.count
        try self.send(one, one.input, over: client)
        if let after = one.after {
            guard try client.answer(on: one.stream).isComplete else { return "no answer" }
            before = self.origin.requests.count
            try self.send(one, after, over: client)
        }
        if one.isCutOff { client.stream.cutSending() }
        switch one.outcome {
        case .silence, .pong: return try self.silence(client, one)
        case .goAway, .closed:
            try client.readToEnd()
            guard one.hasRequest || self.origin.requests.count == before else { return "the origin got a request" }
            return client.goAway.map { "go away: \($0)" } ?? "closed"
        case .forwarded, .answer, .reset:
            let answer = try client.answer(on: one.laterStream ?? one.stream)
            if let code = client.goAway { return "go away: \(code)" }
            return try self.describe(answer, one, before) + self.life(of: client, one)
        }
    }

    private func send(_ one: HTTP2Case, _ bytes: [UInt8], over client: HTTP2Client) throws {
        guard one.isTrickled else { return try client.send(bytes) }
        for byte in bytes { try client.send([byte]) }
    }

    private func describe(_ answer: HTTP2Client.Answer, _ one: HTTP2Case, _ before: Int) throws -> String {
        let requests = self.origin.requests
        if case .forwarded = one.outcome, answer.status == 200, answer.text == "ok" {
            guard requests.count == before + 1, let bytes = self.origin.connections.last?.receivedText else {
                return "the origin got \(requests.count - before) requests"
            }
            return bytes.replacingOccurrences(of: "127.0.0.1:\(self.origin.port)", with: "HOST")
        }
        guard one.hasRequest || requests.count == before else { return "the origin got a request" }
        if let code = answer.reset, answer.status == 0 { return "reset: \(code)" }
        return "\(answer.status) \(answer.problem ?? answer.text)"
    }

    private func silence(_ client: HTTP2Client, _ one: HTTP2Case) throws -> String {
        let life = try self.life(of: client, one)
        if let code = client.goAway { return "go away: \(code)" }
        if one.after == nil, let answer = client.answers[one.stream] { return "\(answer)" }
        if case .pong = one.outcome { return (client.pongs.isEmpty ? "silence" : "pong") + life }
        return "silence\(life)"
    }

    /// Returns a note if the connection does not serve any more.
    private func life(of client: HTTP2Client, _ one: HTTP2Case) throws -> String {
        if one.isLast { return "" }
        let number = 4001
        try? client.send(HTTP2Bytes.headers(HTTP2Case.get, on: number))
        return try client.answer(on: number).status == 200 ? "" : ", and the connection ends"
    }

    /// The words for the expected outcome of a case.
    static func expectation(of one: HTTP2Case) -> String {
        switch one.outcome {
        case .forwarded(let bytes): bytes
        case .answer(let status, let problem): "\(status) \(problem)"
        case .reset(let code): "reset: \(code)"
        case .goAway(let code): "go away: \(code)"
        case .closed: "closed"
        case .silence: "silence"
        case .pong: "pong"
        }
    }
}
