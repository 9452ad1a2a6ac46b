// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import PintleMessage
import Testing

@testable import PintleSession

/// The states of an exchange over HTTP/1.1 with an origin, without a socket: recorded bytes, cut at every place.
struct HTTP1MachineTests {
    /// A request whose response is under test.
    enum Asked: String, Sendable {
        case get = "GET"
        case head = "HEAD"
        case upgrade = "UPGRADE"

        var request: TransferRequest {
            var request = TransferRequest(
                method: self == .head ? "HEAD" : "GET", scheme: .http, authority: Authority(host: "a.test", port: 80),
                path: "/")
            if self == .upgrade { request.upgrade = "websocket" }
            return request
        }
    }

    /// A recorded response: its parts, one after another, and its meaning.
    struct Response: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var asked = Asked.get
        /// Interim responses.
        var interim = ""
        var head: String
        /// The body with its framing.
        var framed = ""
        var content = ""
        /// The trailer X-Sum.
        var sum: String?
        /// Bytes after the response.
        var excess = ""
        /// True if only the end of the connection ends the body.
        var isUnlimited = false
        var isChunked = false
        var keepsConnection = true

        var bytes: [UInt8] { Array((self.interim + self.head + self.framed + self.excess).utf8) }
        var headEnd: Int { self.interim.utf8.count + self.head.utf8.count }
        var end: Int { self.headEnd + self.framed.utf8.count }
    }

    private static let responses: [Response] = [
        Response(
            testDescription: "with a length", head: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", framed: "hello",
            content: "hello"),
        Response(
            testDescription: "with a length, and the connection closes",
            head: "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n", framed: "ok", content: "ok",
            keepsConnection: false),
        Response(
            testDescription: "of HTTP/1.0", head: "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n", framed: "ok",
            content: "ok", keepsConnection: false),
        Response(
            testDescription: "in chunks", head: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            framed: "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n", content: "abcde", isChunked: true),
        Response(
            testDescription: "in chunks with trailers",
            head: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            framed: "1\r\na\r\n0\r\nX-Sum: 1\r\n\r\n", content: "a", sum: "1", isChunked: true),
        Response(
            testDescription: "up to the end of the connection", head: "HTTP/1.1 200 OK\r\n\r\n", framed: "all of it",
            content: "all of it", isUnlimited: true, keepsConnection: true),
        Response(
            testDescription: "after interim ones",
            interim: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
            head: "HTTP/1.1 204 No Content\r\n\r\n"),
        Response(
            testDescription: "to HEAD", asked: .head, head: "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"),
        Response(
            testDescription: "not modified", head: "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n"),
        Response(
            testDescription: "with bytes after it", head: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n",
            framed: "ok", content: "ok", excess: "HTTP/1.1 200 OK\r\n"),
        Response(
            testDescription: "to an upgrade that is declined", asked: .upgrade,
            head: "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", keepsConnection: false),
    ]

    /// The events of a machine, in words that join: pieces of a body depend on how the bytes were cut.
    private struct Seen: Equatable {
        var interim: [UInt16] = []
        var status: UInt16?
        var content: [UInt8] = []
        var switched = false
    }

    /// A machine that has sent a request, with the bytes it has not read yet.
    private struct Run {
        let machine = HTTP1Machine(limits: HeadLimits())
        var seen = Seen()
        var rest: [UInt8] = []

        init(_ request: TransferRequest, sendsAll: Bool = true) {
            let source = ScriptedBody(for: request.body)
            self.machine.begin(AskedRequest(request), sending: source)
            if sendsAll { _ = self.machine.sendAll(of: source) }
        }

        mutating func take(_ bytes: some Sequence<UInt8>) throws(WireError) {
            self.rest += bytes
            var offset = 0
            let all = self.rest
            var failure: WireError?
            all.withUnsafeBytes { bytes in
                do throws(WireError) {
                    while try self.step(bytes, &offset) {}
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
            self.rest.removeFirst(offset)
        }

        private mutating func step(_ bytes: UnsafeRawBufferPointer, _ offset: inout Int) throws(WireError) -> Bool {
            switch try self.machine.input(bytes, from: &offset) {
            case .more: return false
            case .interim(let head): self.seen.interim.append(head.status)
            case .head(let head, _): self.seen.status = head.status
            case .body(let piece): self.seen.content += bytes[piece]
            case .switching:
                self.seen.switched = true
                return false
            }
            return true
        }
    }

    @Test(arguments: Self.responses)
    func `cut at every place, a response is the same one`(_ response: Response) throws {
        let bytes = response.bytes
        var whole = Run(response.asked.request)
        try whole.take(bytes)
        #expect(whole.seen.status != nil && whole.seen.content == Array(response.content.utf8))
        #expect(whole.machine.trailers["X-Sum"] == response.sum)
        #expect(whole.machine.isOver == !response.isUnlimited)
        #expect(whole.machine.takesAnother == (response.keepsConnection && response.excess.isEmpty))
        for cut in 0...bytes.count {
            var halves = Run(response.asked.request)
            try halves.take(bytes[..<cut])
            try halves.take(bytes[cut...])
            #expect(halves.seen == whole.seen, "cut after \(cut) bytes")
            #expect(halves.machine.isOver == whole.machine.isOver, "cut after \(cut) bytes")
            #expect(halves.machine.trailers["X-Sum"] == response.sum, "cut after \(cut) bytes")
        }
        var single = Run(response.asked.request)
        for byte in bytes { try single.take(CollectionOfOne(byte)) }
        #expect(single.seen == whole.seen && single.machine.isOver == whole.machine.isOver)
    }

    @Test(arguments: Self.responses)
    func `ended at every place, a response is complete or has failed`(_ response: Response) throws {
        let bytes = response.bytes
        for count in 0...bytes.count {
            var run = Run(response.asked.request)
            try run.take(bytes[..<count])
            let isWhole = count >= response.end && !response.isUnlimited
            let received: ResponsePart =
                if count == 0 {
                    .nothing
                } else if count < response.headEnd {
                    .bytes
                } else if response.isChunked, !isWhole {
                    .chunks
                } else {
                    .head
                }
            #expect(run.machine.received == received, "after \(count) bytes")
            #expect(run.machine.isAnswered == isWhole, "after \(count) bytes")
            let mayEnd = isWhole || response.isUnlimited && count >= response.headEnd
            #expect((run.machine.failure(after: .closed) == nil) == mayEnd, "closed after \(count) bytes")
            #expect((run.machine.failure(after: .cutOff) == nil) == isWhole, "cut off after \(count) bytes")
            let broken = run.machine.failure(after: .broken("x"))
            #expect((broken == nil) == isWhole, "broken after \(count) bytes")
            if case .broken(let cause)? = broken { #expect(cause == "x") }
        }
    }

    @Test func `an upgrade is over with its 101, and the bytes after it are not read`() throws {
        let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
        let bytes = Array((head + "new protocol").utf8)
        for cut in 0...bytes.count {
            var run = Run(Asked.upgrade.request)
            try run.take(bytes[..<cut])
            if !run.seen.switched { try run.take(bytes[cut...]) } else { run.rest += bytes[cut...] }
            #expect(run.seen.switched && run.rest == Array("new protocol".utf8), "cut after \(cut) bytes")
        }
    }

    @Test func `a 101 without an offer, or before the end of the request, is malformed`() throws {
        let head = Array("HTTP/1.1 101 Switching Protocols\r\n\r\n".utf8)
        #expect(throws: WireError.self) {
            var run = Run(Asked.get.request)
            try run.take(head)
        }
        var request = Asked.upgrade.request
        request.body = .bytes(ByteBuffer(string: "body"))
        #expect(throws: WireError.self) {
            var run = Run(request, sendsAll: false)
            try run.take(head)
        }
    }

    // MARK: Sending

    private static let upload = "0123456789abcdef"

    struct Upload: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let body: TransferRequest.Body
        let trailers: String
        let wire: String
    }

    private static let uploads: [Upload] = [
        Upload(testDescription: "none", body: .none, trailers: "", wire: "\r\n\r\n"),
        Upload(
            testDescription: "in memory", body: .bytes(ByteBuffer(string: Self.upload)), trailers: "",
            wire: "Content-Length: 16\r\n\r\n" + Self.upload),
        Upload(
            testDescription: "a stream with a length", body: .stream(length: 16), trailers: "",
            wire: "Content-Length: 16\r\n\r\n" + Self.upload),
        Upload(
            testDescription: "an empty stream", body: .stream(length: 0), trailers: "",
            wire: "Content-Length: 0\r\n\r\n"),
        Upload(
            testDescription: "a stream in chunks with trailers", body: .stream(length: nil), trailers: "X-Sum",
            wire: "Transfer-Encoding: chunked\r\n\r\n10\r\n" + Self.upload + "\r\n0\r\nX-Sum: 1\r\n\r\n"),
    ]

    private static func request(_ upload: Upload) -> TransferRequest {
        var request = Asked.get.request
        request.method = "POST"
        request.body = upload.body
        return request
    }

    @Test(arguments: Self.uploads, [1, 2, 7, 1000])
    func `whatever the socket takes at once, the request is the same one`(_ upload: Upload, room: Int) {
        let request = Self.request(upload)
        let source = ScriptedBody(for: upload.body, pieces: [Self.upload])
        if !upload.trailers.isEmpty { source.trailersToSend.append(upload.trailers, "1") }
        let machine = HTTP1Machine(limits: HeadLimits())
        machine.begin(AskedRequest(request), sending: source)
        #expect(!machine.isSent)
        let sent = machine.sendAll(of: source, room: room)
        #expect(machine.isSent)
        let text = String(decoding: sent, as: UTF8.self)
        #expect(text.hasPrefix("POST / HTTP/1.1\r\nHost: a.test\r\n"))
        #expect(text.hasSuffix(upload.wire), "sent: \(text)")
    }

    @Test(arguments: Self.uploads)
    func `a failure to send ends the sending at any place, and the response may still come`(_ upload: Upload) throws {
        for steps in 0..<64 {
            let source = ScriptedBody(for: upload.body, pieces: [Self.upload])
            var run = Run(Self.request(upload), sendsAll: false)
            _ = run.machine.sendAll(of: source, room: 4, steps: steps)
            if run.machine.isSent { break }
            run.machine.failedToSend(IOError(errnoCode: EPIPE, reason: "send"))
            #expect(run.machine.isSent && run.machine.output(of: source) == .nothing, "after \(steps) steps")
            guard case .broken(.some)? = run.machine.failure(after: .closed) else {
                Issue.record("after \(steps) steps the failure to send is not the reason")
                continue
            }
            try run.take("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n".utf8)
            #expect(run.seen.status == 413 && run.machine.isOver && !run.machine.takesAnother, "after \(steps) steps")
        }
    }

    @Test(arguments: Self.uploads, [("200 OK", false), ("302 Found", true), ("503 Busy", true)])
    func `RFC 9112 9.5: an early answer from 300 on ends the upload at any place`(
        _ upload: Upload, answer: (status: String, ends: Bool)
    ) throws {
        for steps in 0..<64 {
            let source = ScriptedBody(for: upload.body, pieces: [Self.upload])
            var run = Run(Self.request(upload), sendsAll: false)
            _ = run.machine.sendAll(of: source, room: 4, steps: steps)
            let wasSent = run.machine.isSent
            try run.take("HTTP/1.1 \(answer.status)\r\nContent-Length: 0\r\n\r\n".utf8)
            #expect(run.machine.isAnswered)
            #expect(run.machine.isOver == (wasSent || answer.ends), "after \(steps) steps")
            #expect(run.machine.takesAnother == wasSent, "after \(steps) steps")
            if wasSent { break }
            _ = run.machine.sendAll(of: source)
            #expect(run.machine.isOver && run.machine.takesAnother == !answer.ends, "after \(steps) steps")
        }
    }

    @Test func `a body that ends before its length is cut, also after some of it`() {
        for pieces in [[], ["abc"], ["abc", "def"]] {
            let source = ScriptedBody(for: .stream(length: 100), pieces: pieces)
            let machine = HTTP1Machine(limits: HeadLimits())
            var request = Asked.get.request
            request.body = .stream(length: 100)
            machine.begin(AskedRequest(request), sending: source)
            _ = machine.sendAll(of: source)
            #expect(machine.output(of: source) == .cut && !machine.isSent)
        }
    }

    @Test func `a body that waits holds nothing up, and goes on when there is more`() {
        var request = Asked.get.request
        request.body = .stream(length: nil)
        let source = ScriptedBody(for: .stream(length: nil))
        source.isComplete = false
        let machine = HTTP1Machine(limits: HeadLimits())
        machine.begin(AskedRequest(request), sending: source)
        let head = machine.sendAll(of: source)
        #expect(machine.output(of: source) == .nothing && !machine.isSent && !head.isEmpty)
        source.pieces = ["abc"]
        #expect(machine.output(of: source) == .chunk)
        let chunk = machine.sendAll(of: source)
        #expect(chunk == Array("3\r\nabc\r\n".utf8) && !machine.isSent)
        source.isComplete = true
        let last = machine.sendAll(of: source)
        #expect(last == Array("0\r\n\r\n".utf8) && machine.isSent)
    }

    @Test func `a machine serves one exchange after another`() throws {
        var run = Run(Asked.get.request)
        for number in 0..<3 {
            try run.take("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\(number)".utf8)
            #expect(run.machine.isOver && run.machine.takesAnother && run.machine.received == .head)
            let source = ScriptedBody(for: .none)
            run.machine.begin(AskedRequest(Asked.get.request), sending: source)
            #expect(!run.machine.isSent && run.machine.received == .nothing && !run.machine.isAnswered)
            _ = run.machine.sendAll(of: source)
        }
        #expect(run.seen.content == Array("012".utf8))
    }
}
