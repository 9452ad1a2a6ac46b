// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleLoop
import PintleMessage
import PintleSession
import PintleTrust
import Testing

@testable import PintleTesting

/// Origins that end a TLS connection while a request is being sent, or while the client does not take their answer.
@Suite(.timeLimit(.minutes(15))) struct SecureEndTests {
    /// The way in which an origin ends a connection.
    enum Ending: CaseIterable { case said, reset }

    /// The end of an answer's body, and if the origin gets that far. All answers have the same bytes.
    enum Answer: String, CaseIterable {
        case length, shortOfLength, chunks, shortOfChunks, upToTheEnd

        static let body = "0123456789"

        var bytes: String {
            let chunks = "Transfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n5\r\n56789\r\n"
            let rest =
                switch self {
                case .length: "Content-Length: 10\r\n\r\n\(Self.body)"
                case .shortOfLength: "Content-Length: 20\r\n\r\n\(Self.body)"
                case .chunks: chunks + "0\r\n\r\n"
                case .shortOfChunks: chunks
                case .upToTheEnd: "\r\n\(Self.body)"
                }
            return "HTTP/1.1 200 OK\r\n\(rest)"
        }

        /// The code of the transfer's error; nil if the answer is whole.
        func failure(_ ending: Ending) -> SessionError.Code? {
            switch self {
            case .length, .chunks: nil
            case .shortOfLength, .shortOfChunks: .truncated
            // Only a word of TLS says that this was all.
            case .upToTheEnd: ending == .said ? nil : .truncated
            }
        }
    }

    private let stage: SessionStage
    private let side: TLSServerSide
    private var loop: Loop { self.stage.engine.loops[0] }

    init() throws {
        let pki = TestPKI()
        let root = try pki.root()
        self.side = try TLSServerSide(pki.leaf(ip: ["127.0.0.1"], signedBy: root))
        self.stage = try SessionStage(policy: SecurityPolicy(pinning: .none, roots: .only([root.certificate])))
    }

    /// Blocks the loop until `body` has returned, so that it then finds everything that was sent meanwhile at once.
    private static func hold<Result>(_ loop: Loop, _ body: () throws -> Result) throws -> Result {
        let (isHeld, mayGoOn) = (Watched(false), Watched(false))
        loop.execute {
            isHeld.change { $0 = true }
            _ = try? mayGoOn.wait(for: "leave to go on") { $0 }
        }
        defer { mayGoOn.change { $0 = true } }
        try isHeld.wait(for: "the loop") { $0 }
        return try body()
    }

    private static func end(_ stream: SocketStream, _ ending: Ending) {
        if ending == .said { stream.finishSending() } else { stream.reset() }
    }

    private func transferRequest(
        _ origin: RawOrigin, fields: Fields = Fields(), body: String? = nil
    ) -> TransferRequest {
        TransferRequest(
            method: body == nil ? "GET" : "POST", scheme: .https,
            authority: Authority(host: "127.0.0.1", port: UInt16(origin.port)), path: "/", fields: fields,
            body: body.map { .bytes(ByteBuffer(string: $0)) } ?? .none)
    }

    // MARK: Behind a response

    @Test func `records that were read ahead behind a response answer no other request`() async throws {
        let (side, loop) = (self.side, self.loop)
        let (begun, rest) = (String(repeating: "a", count: 60_000), String(repeating: "b", count: 40_000))
        let origin = try RawOrigin { connection in
            try connection.stream.secure(as: side)
            let target = try connection.readRequest().target
            guard connection.number == 0 else { return try connection.send(response(target)) }
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n\(begun)")
            try Self.hold(loop) {
                try connection.send(rest)
                try connection.send(response("of nobody's"))
            }
            _ = try connection.waitForEnd()
        }
        let long = try await self.stage.data(for: request(origin.port, "/long", scheme: .https))
        #expect(long.text == begun + rest)
        #expect(try await self.stage.data(for: request(origin.port, "/next", scheme: .https)).text == "/next")
        #expect(origin.connections.count == 2)
    }

    // MARK: Within the request

    @Test func `an origin that ends the connection behind 100 Continue breaks the request and nothing else`()
        async throws
    {
        let (side, loop) = (self.side, self.loop)
        let origin = try RawOrigin { connection in
            try connection.stream.secure(as: side)
            guard connection.number == 0 else { return try connection.send(response(connection.readRequest().target)) }
            _ = try connection.readRequestHead()
            try Self.hold(loop) {
                try connection.send("HTTP/1.1 100 Continue\r\n\r\n")
                // The first write of the body fails, after the end of TLS has been read.
                connection.stream.finishSending()
                connection.stream.reset()
            }
        }
        let asked = request(
            origin.port, "/upload", method: "POST", scheme: .https, fields: ["Expect": "100-continue"])
        let error = await self.stage.failure(of: asked, from: .bytes(ByteBuffer(bytes: [UInt8].pattern(200_000))))
        #expect(error?.code == .malformedResponse, "\(String(describing: error))")
        #expect(origin.requests.first?["Expect"] == "100-continue")
        #expect(try await self.stage.data(for: request(origin.port, "/next", scheme: .https)).text == "/next")
    }

    @Test func `a request that begins where another is given up hears nothing of the answer to that one`() async throws
    {
        let side = self.side
        let origin = try RawOrigin { connection in
            try connection.stream.secure(as: side)
            _ = try connection.readRequestHead()
            try connection.send("HTTP/1.1 200 OK\r\nX-Number: \(connection.number)\r\nContent-Length: 2\r\n\r\nok")
            _ = try connection.waitForEnd()
        }
        let (first, second) = (Taker(), Taker())
        let (stage, loop) = (self.stage, self.loop)
        let (upload, next) = (
            self.transferRequest(origin, fields: ["Expect": "100-continue"], body: "body"), self.transferRequest(origin)
        )
        first.whenBodyLeaves = { transfer in
            // The answer releases the body, and its owner may then give up the request and begin another one.
            transfer.cancel()
            let other = stage.session.start(next, on: loop, delegate: second)
            #expect(other === transfer, "the object is used again, which is what this is about")
        }
        loop.execute { first.transfer = stage.session.start(upload, on: loop, delegate: first) }
        let seen = try await second.seen.reach("the end") { $0.isOver }
        #expect(seen.failure == nil && seen.body == "ok")
        #expect(seen.heads.map { $0.fields.values(of: "X-Number") } == [["1"]])
        #expect(first.seen.current.heads.isEmpty && !first.seen.current.isOver)
    }

    // MARK: After an answer that is not taken

    @Test(arguments: Answer.allCases, Ending.allCases)
    func `an end that comes together with the answer is told behind it`(answer: Answer, ending: Ending) async throws {
        let (side, loop) = (self.side, self.loop)
        let origin = try RawOrigin { connection in
            try connection.stream.secure(as: side)
            _ = try connection.readRequest()
            try Self.hold(loop) {
                try connection.send(answer.bytes)
                Self.end(connection.stream, ending)
            }
        }
        let seen = try await self.take(from: origin)
        #expect(seen.body == Answer.body && seen.failure == answer.failure(ending), "\(seen)")
    }

    @Test(arguments: Answer.allCases, Ending.allCases)
    func `an end that comes while nobody reads is told behind the answer`(answer: Answer, ending: Ending) async throws {
        let side = self.side
        let (isPaused, hasEnded) = (Watched(false), Watched(false))
        let origin = try RawOrigin { connection in
            try connection.stream.secure(as: side)
            _ = try connection.readRequest()
            // Up to the first half of the body.
            let half = answer.bytes.firstRange(of: "01234").map { String(answer.bytes[..<$0.upperBound]) } ?? ""
            try connection.send(half)
            try isPaused.wait(for: "the pause") { $0 }
            try connection.send(String(answer.bytes.dropFirst(half.count)))
            Self.end(connection.stream, ending)
            hasEnded.change { $0 = true }
        }
        let seen = try await self.take(from: origin) {
            isPaused.change { $0 = true }
            try await hasEnded.reach("the end") { $0 }
        }
        #expect(seen.body == Answer.body && seen.failure == answer.failure(ending), "\(seen)")
    }

    @Test(arguments: [false, true])
    func `a connection that its origin has ended behind an answer is not used again`(isPaused: Bool) async throws {
        let (side, loop) = (self.side, self.loop)
        let heard = Watched<[String]>([])
        let origin = try RawOrigin { connection in
            // The script has this layer itself: TLS ends, and the connection below does not.
            let layer = try TLSServerLayer(side)
            var text = ""
            while let bytes = try connection.stream.readSome() {
                text += String(decoding: layer.open(bytes), as: UTF8.self)
                try connection.stream.send(layer.seal([]))
                guard text.hasSuffix("\r\n\r\n") else { continue }
                text = ""
                heard.change { $0.append("a request on \(connection.number)") }
                try Self.hold(loop) {
                    try connection.stream.send(layer.seal(Array(response("ok").utf8)))
                    try connection.stream.send(layer.farewell())
                }
            }
        }
        for number in 0..<2 {
            let taker = Taker()
            taker.isSlow = isPaused
            var asked = self.transferRequest(origin)
            // An attempt that fails is visible, because the request is not repeated.
            asked.isRepeatable = false
            let (stage, request) = (self.stage, asked)
            loop.execute { taker.transfer = stage.session.start(request, on: loop, delegate: taker) }
            try await taker.seen.reach("the head") { !$0.heads.isEmpty || $0.isOver }
            try await loop.submit { taker.goOn(loop) }.get()
            let seen = try await taker.seen.reach("the end") { $0.isOver }
            #expect(seen.body == "ok" && seen.failure == nil, "\(number): \(seen)")
        }
        #expect(heard.current == ["a request on 0", "a request on 1"])
    }

    /// Requests an answer, stops reading at its head, and continues, a piece in each turn, after `whilePaused` has
    /// returned.
    private func take(
        from origin: RawOrigin, _ whilePaused: () async throws -> Void = {}
    ) async throws -> Taker.Seen {
        let taker = Taker()
        taker.isSlow = true
        let (stage, loop, asked) = (self.stage, self.loop, self.transferRequest(origin))
        loop.execute { taker.transfer = stage.session.start(asked, on: loop, delegate: taker) }
        try await taker.seen.reach("the head") { !$0.heads.isEmpty }
        try await whilePaused()
        let early = try await loop.submit { (taker.seen.current, taker.goOn(loop)).0 }.get()
        #expect(early.body.isEmpty && !early.isOver, "it was to wait: \(early)")
        return try await taker.seen.reach("the end") { $0.isOver }
    }
}

/// Records the events of a transfer.
private final class Taker: TransferDelegate, @unchecked Sendable {
    // Why @unchecked holds: the variables are set before the transfer begins, and touched on the loop's thread from then on.
    struct Seen: Sendable {
        var heads: [ResponseHead] = []
        var body = ""
        var isOver = false
        var failure: SessionError.Code?
    }

    let seen = Watched(Seen())
    var transfer: Transfer?
    /// True if reading stops at the head, and at each piece of the body until the next turn.
    var isSlow = false
    /// Called once, when a part of the request's body was taken.
    var whenBodyLeaves: ((Transfer) -> Void)?
    private var loop: Loop?

    /// Reads on.
    func goOn(_ loop: Loop) {
        self.loop = loop
        self.transfer?.resumeReading()
    }

    func originSent(interim head: ResponseHead) {}

    func originAnswered(_ head: ResponseHead, length: UInt64?) {
        if self.isSlow { self.transfer?.pauseReading() }
        self.seen.change { $0.heads.append(head) }
    }

    func originSent(_ bytes: UnsafeRawBufferPointer) {
        self.seen.change { $0.body += String(decoding: bytes, as: UTF8.self) }
        guard self.isSlow else { return }
        self.transfer?.pauseReading()
        self.loop?.execute { self.transfer?.resumeReading() }
    }

    func originSent(trailers fields: Fields) {}

    func originTookBody(_ count: Int) {
        let act = self.whenBodyLeaves
        self.whenBodyLeaves = nil
        if let transfer { act?(transfer) }
    }

    func originEnded(_ error: SessionError?, _ metrics: TransferMetrics) {
        self.transfer = nil
        self.seen.change { ($0.isOver, $0.failure) = (true, error?.code) }
    }
}
