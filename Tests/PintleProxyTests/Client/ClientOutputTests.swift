// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import Testing

@testable import PintleProxy

/// The bytes for a client, and the framing of its response.
struct ClientOutputTests {
    @Test func `the end of a turn is awaited once, and again in the next turn`() {
        var output = GatheredOutput()
        for _ in 0..<2 {
            let nothing = output.take()
            let isFirst = output.put(ByteBuffer(string: "a"))
            let taken = output.take()
            let isFirstAgain = output.put(ByteBuffer(string: "ab"))
            output.endTurn()
            let rest = output.take()
            #expect(nothing == nil && isFirst && !isFirstAgain)
            #expect(taken == ByteBuffer(string: "a") && rest == ByteBuffer(string: "ab"))
        }
    }

    @Test func `the end of the turn stays awaited while bytes are sent`() {
        var output = GatheredOutput()
        var isAwaited = [output.put(ByteBuffer())]
        #expect(!output.isSending)
        output.startSending()
        #expect(output.isSending)
        isAwaited.append(output.put(ByteBuffer()))
        output.endSending()
        isAwaited.append(output.put(ByteBuffer()))
        #expect(!output.isSending && isAwaited == [true, false, false])
    }

    /// Events of each state that only a defect could cause.
    @Test(arguments: ["idle: starts", "idle: ends", "idle: turn", "due: ends", "sending: starts", "sending: turn"])
    func `output traps on what cannot be`(bug: String) async {
        await #expect(processExitsWith: .failure) { [bug] in
            var output = GatheredOutput()
            if !bug.hasPrefix("idle") { _ = output.put(ByteBuffer()) }
            if bug.hasPrefix("sending") { output.startSending() }
            if bug.hasSuffix("starts") { output.startSending() }
            if bug.hasSuffix("ends") { output.endSending() }
            if bug.hasSuffix("turn") { output.endTurn() }
        }
    }

    @Test func `a response keeps the connection only if both sides may, and its end is not the end of the body`() {
        for wants in [true, false] {
            for may in [true, false] {
                let kinds: [(UInt8, UInt64?)] = [(1, 3), (1, nil), (0, 3), (0, nil)]
                for (version, length) in kinds {
                    var answer = ClientAnswer(method: "GET", minorVersion: version, wantsKeepAlive: wants)
                    let framing = answer.begin(ResponseHead(status: 200), length: length, mayKeepAlive: may)
                    #expect(answer.framing == framing)
                    #expect(answer.keepsAlive == (wants && may && framing != .untilClose))
                }
            }
        }
    }

    @Test func `a response without a body owes nothing`() {
        var answer = ClientAnswer(method: "HEAD", minorVersion: 1, wantsKeepAlive: true)
        let framing = answer.begin(ResponseHead(status: 200), length: 7, mayKeepAlive: true)
        #expect(framing == .none(wouldBe: 7))
        answer.finish()
    }

    @Test(arguments: ["twice", "too much", "too little"])
    func `an answer traps on what cannot be`(bug: String) async {
        await #expect(processExitsWith: .failure) { [bug] in
            var answer = ClientAnswer(method: "GET", minorVersion: 1, wantsKeepAlive: true)
            _ = answer.begin(ResponseHead(status: 200), length: 2, mayKeepAlive: true)
            switch bug {
            case "twice": _ = answer.begin(ResponseHead(status: 200), length: 2, mayKeepAlive: true)
            case "too much": answer.note(written: 3)
            default:
                answer.note(written: 1)
                answer.finish()
            }
        }
    }
}
