// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import Testing

@testable import PintleProxy

/// Received bytes become requests and pieces of their bodies.
struct RequestStreamTests {
    private static let get = "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n"

    private static func post(_ fields: String, _ body: String) -> String {
        "POST http://a.test/p HTTP/1.1\r\nHost: a.test\r\n\(fields)\r\n\r\n\(body)"
    }

    /// A conversation as recorded, with its outcome.
    private static let recorded =
        Self.get + Self.post("Content-Length: 5", "hello") + "\r\n"
        + Self.post("Transfer-Encoding: chunked", "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nA: b\r\n\r\n") + Self.get
    private static let outcome = [
        "GET1 begins, none", "POST2 begins, length(5)", "POST2 takes hello", "POST2 ends",
        "POST3 begins, chunked", "POST3 takes abcde", "POST3 ends with trailers", "GET4 begins, none",
    ]

    @Test func `the cuts between received bytes change nothing`() {
        let bytes = Array(Self.recorded.utf8)
        for cut in bytes.indices {
            var stage = RequestStreamStage()
            stage.answersAtOnce = true
            stage.receive(bytes[..<cut])
            stage.receive(bytes[cut...])
            #expect(stage.outcome == Self.outcome, "cut at \(cut)")
            #expect(stage.phase == "head" && stage.stream.waitingBytes == 0, "cut at \(cut)")
        }
        for size in 1...64 {
            var stage = RequestStreamStage()
            stage.answersAtOnce = true
            for start in stride(from: 0, to: bytes.count, by: size) {
                stage.receive(bytes[start..<min(start + size, bytes.count)])
            }
            #expect(stage.outcome == Self.outcome, "pieces of \(size)")
        }
    }

    @Test func `pipelined requests wait for the answer before them, wherever their bytes are cut`() {
        let bytes = Array(Self.recorded.utf8)
        for cut in bytes.indices {
            var stage = RequestStreamStage()
            stage.receive(bytes[..<cut])
            stage.receive(bytes[cut...])
            #expect(stage.outcome == Array(Self.outcome.prefix(1)), "cut at \(cut)")
            stage.answer()
            #expect(stage.outcome == Array(Self.outcome.prefix(4)), "cut at \(cut)")
            stage.answer()
            stage.answer()
            #expect(stage.outcome == Self.outcome, "cut at \(cut)")
            #expect(stage.phase == "answering")
        }
    }

    @Test(arguments: [
        ("GET /\u{1} HTTP/1.1\r\nHost: a.test\r\n\r\n", "refuses malformed"),
        ("\u{16}\u{3}\u{1}", "refuses malformed"),
        ("GET / HTTP/2.0\r\nHost: a.test\r\n\r\n", "refuses versionNotSupported"),
        ("GET /\(String(repeating: "a", count: 600)) HTTP/1.1\r\n", "refuses headerTooLarge"),
    ])
    func `bytes that are no request are refused once, behind the requests before them`(bytes: String, refusal: String) {
        let all = Array((Self.get + bytes).utf8)
        for cut in all.indices {
            var stage = RequestStreamStage()
            stage.answersAtOnce = true
            stage.receive(all[..<cut])
            stage.receive(all[cut...])
            #expect(stage.outcome == ["GET1 begins, none", refusal, "lingers"], "cut at \(cut)")
            #expect(stage.stream.waitingBytes == 0)
        }
    }

    @Test func `a malformed body fails at its receiver`() {
        let bytes = Array(Self.post("Transfer-Encoding: chunked", "3\r\nabc\r\nxyz\r\n").utf8)
        for cut in bytes.indices {
            var stage = RequestStreamStage()
            stage.receive(bytes[..<cut])
            stage.receive(bytes[cut...])
            #expect(
                stage.outcome
                    == ["POST1 begins, chunked", "POST1 takes abc", "POST1 fails: malformed", "lingers"],
                "cut at \(cut)")
        }
    }

    @Test func `a client that ends its side within a request gets no answer to it, wherever it ends`() {
        let head = Self.post("Content-Length: 5", "")
        let bytes = Array((head + "hell").utf8)
        for end in bytes.indices {
            var stage = RequestStreamStage()
            stage.receive(bytes[...end])
            stage.endInput()
            if end + 1 < head.utf8.count {
                #expect(stage.outcome == ["closes"], "end at \(end)")
                #expect(stage.phase == "lingering")
            } else {
                #expect(stage.outcome.suffix(2) == ["breaks off", "POST1 hears of the end"], "end at \(end)")
                #expect(stage.phase == "closed")
            }
        }
    }

    @Test func `a client that ends its side behind a request keeps no connection, unless more was pipelined`() {
        var stage = RequestStreamStage()
        stage.receive(Self.get + Self.get)
        #expect(stage.stream.mayContinue)
        stage.endInput()
        #expect(stage.stream.mayContinue)
        stage.answer()
        #expect(!stage.stream.mayContinue)
        stage.answer()
        #expect(stage.outcome == ["GET1 begins, none", "GET2 begins, none", "closes"])
    }

    // MARK: Back-pressure

    @Test func `a body waits until its receiver takes it, and its end needs no room`() {
        var stage = RequestStreamStage()
        stage.holdsBodies = true
        stage.receive(Self.post("Content-Length: 5", "hel"))
        stage.receive("lo")
        #expect(stage.takeTranscript() == ["POST1 begins, length(5)"])
        #expect(stage.stream.waitingBytes == 5)
        let taker = stage.takers[0]
        (taker.wantsBody, taker.wantsEndOfBody) = (true, false)
        stage.run()
        #expect(stage.takeTranscript() == ["POST1 takes hello"])
        (taker.wantsBody, taker.wantsEndOfBody) = (false, true)
        stage.run()
        #expect(stage.takeTranscript() == ["POST1 ends"])
    }

    @Test func `no request is taken from a client that does not read`() {
        var stage = RequestStreamStage()
        stage.isWritable = false
        stage.receive(Self.get)
        #expect(stage.takeTranscript() == ["awaits room"])
        #expect(!stage.stream.wantsBytes(isWritable: false))
        stage.isWritable = true
        stage.run()
        #expect(stage.takeTranscript() == ["GET1 begins, none"])
    }

    @Test func `bytes sent ahead are read up to a limit`() {
        var stage = RequestStreamStage()
        stage.receive(Self.get)
        stage.receive([UInt8](repeating: 0x20, count: RequestStream<BodyTaker>.inboxLimit - 1))
        #expect(stage.stream.wantsBytes(isWritable: true) && stage.stream.wantsBytes(isWritable: false))
        stage.receive(" ")
        #expect(!stage.stream.wantsBytes(isWritable: true))
    }

    @Test func `after some requests in a turn a client rests, and events do not shorten the rest`() {
        let most = RequestStream<BodyTaker>.mostHeadsInTurn
        var stage = RequestStreamStage()
        stage.answersAtOnce = true
        stage.receive(String(repeating: Self.get, count: most + 2))
        #expect(stage.transcript.count == most + 1 && stage.transcript.last == "rests")
        stage.run()
        stage.receive(Self.get)
        #expect(stage.transcript.count == most + 1)
        // Within the turn the end of the rest leads to another one.
        stage.stream.resume()
        stage.run()
        #expect(stage.transcript.count == most + 2 && stage.transcript.last == "rests")
        stage.turn += 1
        stage.stream.resume()
        stage.run()
        #expect(stage.takers.count == most + 3 && stage.stream.waitingBytes == 0)
    }

    @Test func `nothing more is read while many requests wait for a later turn`() {
        var stage = RequestStreamStage()
        stage.answersAtOnce = true
        let count = RequestStream<BodyTaker>.inboxLimit / Self.get.utf8.count + 20
        stage.receive(String(repeating: Self.get, count: count))
        #expect(!stage.stream.wantsBytes(isWritable: true))
        stage.turn += 1
        stage.stream.resume()
        stage.run()
        #expect(stage.stream.wantsBytes(isWritable: true))
    }

    // MARK: Moving

    @Test func `bytes of a body move past the stream, and no run begins meanwhile`() {
        var stage = RequestStreamStage()
        stage.receive(Self.post("Content-Length: 9", "abc"))
        #expect(stage.stream.missingBytes == 6)
        let (move, another) = (stage.stream.startMoving(), stage.stream.startMoving())
        #expect(move?.receiver === stage.takers[0] && move?.missing == 6)
        #expect(another == nil && stage.stream.isRunning)
        let isComplete = stage.stream.endMoving(2)
        #expect(!isComplete && !stage.stream.isRunning && stage.stream.missingBytes == 4)
        stage.moveBody()
        #expect(
            stage.transcript == ["POST1 begins, length(9)", "POST1 takes abc", "POST1 moves 4", "POST1 ends"])
    }

    @Test func `bytes that wait, and chunks, do not move`() {
        var stage = RequestStreamStage()
        stage.holdsBodies = true
        stage.receive(Self.post("Content-Length: 9", "abc"))
        stage.moveBody()
        var chunked = RequestStreamStage()
        chunked.receive(Self.post("Transfer-Encoding: chunked", ""))
        chunked.moveBody()
        #expect(stage.transcript.last == "nothing to move" && chunked.transcript.last == "nothing to move")
        #expect(chunked.stream.missingBytes == nil)
    }

    // MARK: Recurrent requests

    @Test func `a head that recurs is one request`() {
        var reader = RequestReader(limits: HeadLimits())
        var recurrent = RecurrentRequests()
        var inbox = ByteBuffer(string: String(repeating: Self.get, count: 4))
        var requests: [ReceivedRequest] = []
        while let request = try? reader.next(&inbox, limits: HeadLimits(), &recurrent) { requests.append(request) }
        #expect(requests.count == 4 && requests[0] !== requests[1])
        #expect(requests[1] === requests[2] && requests[2] === requests[3])
    }
}
