// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import PintleTrust
import Testing

private typealias Bytes = HTTP2Bytes
private typealias Kind = HTTP2Bytes.Kind
private typealias Flag = HTTP2Bytes.Flag

/// Frames of a few bytes that are held because no side takes them: their memory is counted, and bounded.
@Suite(.timeLimit(.minutes(15))) struct HTTP2HeldFramesTests {
    /// Content that fills a client which has given no window.
    private static let filling = 5 * (1 << 14)

    private let site: PrivateSite

    init() throws { self.site = try PrivateSite() }

    private func stage(leadingTo origin: RawOrigin) throws -> HTTP2Stage {
        try HTTP2Stage(
            "trust: {site: {hosts: [\"127.0.0.1\"], roots: [\"\(self.site.folder.path)/root.pem\"]}}",
            leadingTo: origin.port, by: "https")
    }

    /// An origin whose first answer begins with more than its client takes, and then has `count` frames.
    private func origin(
        sending kind: String, _ count: Int, _ isSent: Watched<Bool>,
        then rest: @escaping @Sendable (_ stream: Int, _ peer: inout HTTP2Peer, SocketStream) throws -> Void
    ) throws -> RawOrigin {
        let side = try TLSServerSide(self.site.leaf, speaksHTTP2: true)
        return try RawOrigin { connection in
            try connection.stream.secure(as: side)
            var peer = try HTTP2Peer(connection.stream)
            let number = try peer.nextRequest().stream
            try peer.begin(number)
            let piece = Bytes.frame(Kind.data, on: number, [UInt8](repeating: 0x61, count: 1 << 14))
            for _ in 0..<Self.filling >> 14 { try connection.stream.send(piece) }
            try peer.settle()
            let frame = kind == "DATA" ? Bytes.data("b", isLast: false, on: number) : Bytes.windowUpdate(1, on: number)
            for _ in 0..<count / 100 {
                try connection.stream.send([[UInt8]](repeating: frame, count: 100).flatMap { $0 })
            }
            try peer.settle()
            isSent.change { $0 = true }
            try rest(number, &peer, connection.stream)
            _ = try connection.waitForEnd()
        }
    }

    private func held(_ pintle: PintleProcess) throws -> Int {
        try #require(try pintle.counters()["held_bytes"] as? Int)
    }

    @Test(arguments: ["DATA", "WINDOW_UPDATE"])
    func `LOOK-73 frames of an origin that wait are counted, and taken however many there are`(kind: String) throws {
        let (isSent, isReleased) = (Watched(false), Watched(false))
        let origin = try self.origin(sending: kind, 10_000, isSent) { number, _, stream in
            try isReleased.wait(for: "the count") { $0 }
            try stream.send(Bytes.data("c", on: number))
        }
        let stage = try self.stage(leadingTo: origin)
        let client = try stage.client()
        try client.greet([(4, 0)])
        try client.send(Bytes.headers(HTTP2Case.get))
        try isSent.wait(for: "the frames") { $0 }
        #expect(try self.held(stage.pintle) >= 10_000 * 256)
        isReleased.change { $0 = true }
        try client.send(Bytes.windowUpdate(1 << 20) + Bytes.windowUpdate(1 << 20, on: 0))
        let answer = try client.answer()
        #expect(answer.isComplete && answer.body.count == Self.filling + (kind == "DATA" ? 10_000 : 0) + 1)
        try Patience.wait(for: "nothing to be held") {
            try client.send(Bytes.frame(Kind.ping, on: 0, Array(1...8)))
            return try self.held(stage.pintle) == 0
        }
    }

    @Test(arguments: ["DATA", "WINDOW_UPDATE"])
    func `LOOK-73 an origin that sends more frames than are held loses the stream and nothing else`(kind: String) throws
    {
        let isSent = Watched(false)
        let origin = try self.origin(sending: kind, 40_000, isSent) { _, peer, _ in
            try peer.answer(try peer.nextRequest().stream, "next")
        }
        let stage = try self.stage(leadingTo: origin)
        let client = try stage.client()
        try client.greet([(4, 0)])
        try client.send(Bytes.headers(HTTP2Case.get))
        let answer = try client.answer()
        #expect(answer.reset == .internalError && !answer.isComplete, "\(String(describing: answer.reset))")
        try isSent.wait(for: "the frames") { $0 }
        try client.send(Bytes.headers(HTTP2Case.get, on: 3) + Bytes.windowUpdate(100, on: 3))
        #expect(try client.answer(on: 3).text == "next")
        #expect(origin.connections.count == 1 && client.goAway == nil)
        let lines = try stage.pintle.waitForExchanges(3)
        let errors = lines.compactMap { $0["error"] as? String }
        #expect(errors.count == 1 && errors[0].contains("more frames of a few bytes than are held"), "\(lines)")
    }

    @Test func `LOOK-73 frames behind a head in the same chunk are counted`() throws {
        let folder = try TemporaryFolder()
        let pki = TestPKI()
        let root = try pki.root("Root")
        _ = try folder.write(pki.leaf("proxy", dns: ["proxy.test"], ip: ["127.0.0.1"], signedBy: root), as: "proxy")
        // A proxy that does not open its tunnel, so that bytes of clients stay in Pintle.
        let parent = try RawOrigin { connection in
            _ = try connection.readRequestHead()
            _ = try connection.waitForEnd()
        }
        let pintle = try PintleProcess(
            """
            listen_tls: {certificate: proxy.pem, key: proxy.key}
            upstream_proxy: {url: "http://127.0.0.1:\(parent.port)"}
            """, arguments: ["--listen", "https://127.0.0.1:0"], folder: folder)
        let client = HTTP2Client(try TLSStream(port: pintle.ports[1], protocols: ["h2"]))
        try client.greet()
        for number in 0..<40 {
            let stream = 2 * number + 1
            let head = Bytes.headers(
                [(":method", "CONNECT"), (":authority", "site.example:443")], Flag.endHeaders, on: stream)
            // One record of TLS, and so one read.
            try client.send(head + Bytes.frame(Kind.data, on: stream, [UInt8](repeating: 0x61, count: 8000)))
        }
        try client.send(Bytes.frame(Kind.ping, on: 0, Array(1...8)))
        try client.read { $0.pongs.count == 1 || $0.goAway != nil }
        // Whole pages are counted.
        let held = try self.held(pintle)
        #expect(held >= 40 * 8000 - 4096, "\(held), \(client.answers)")
    }
}
