// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintlePolicy
import PintleSession
import Testing

@testable import PintleProxy

/// The recording streams themselves: they are no proof of anything unless they refuse.
struct RecordingStreamTests {
    private let transcript = Transcript()

    private func send(_ text: String, to client: RecordingClient) -> Int {
        Array(text.utf8).withUnsafeBytes { client.send($0) }
    }

    @Test(arguments: [
        ("a body before the head", "a body without a head, or behind the end: \"x\""),
        ("two heads", "a second head, 200"), ("an interim behind the head", "an interim response behind the head"),
        ("too much", "more is written than was declared: \"xyz\""),
        ("too little", "2 bytes less are written than were declared"),
        ("something behind the end", "a body without a head, or behind the end: \"x\""),
        ("two ends", "an end without a head, or a second one"), ("a cut of nothing", "a cut of what has not begun"),
        ("a final interim", "200 is no interim response"), ("a 101", "a 101 that is no tunnel"),
    ])
    func `a client refuses`(what: String, breach: String) {
        let client = RecordingClient(self.transcript, method: "GET")
        let head = ResponseHead(status: 200)
        switch what {
        case "a body before the head": _ = self.send("x", to: client)
        case "two heads":
            client.send(head, length: 0)
            client.send(head, length: 0)
        case "an interim behind the head":
            client.send(head, length: 0)
            client.send(interim: ResponseHead(status: 103))
        case "too much":
            client.send(head, length: 2)
            #expect(self.send("xyz", to: client) == 0)
        case "too little":
            client.send(head, length: 2)
            client.finish(trailers: Fields())
        case "something behind the end", "two ends":
            client.send(head, length: nil)
            client.finish(trailers: Fields())
            if what == "two ends" { client.finish(trailers: Fields()) } else { _ = self.send("x", to: client) }
        case "a cut of nothing": client.cut()
        case "a final interim": client.send(interim: head)
        default: client.send(ResponseHead(status: 101), length: nil)
        }
        #expect(self.transcript.breaches == [breach])
    }

    @Test(arguments: [
        ("a body that is not streamed", "a body that is not streamed, or is over: \"x\""),
        ("too much", "3 bytes are sent of 2"), ("too little", "a body of 2 bytes ends after 0"),
        ("two ends", "a body ends that is over"),
        ("a body behind its end", "a body that is not streamed, or is over: \"x\""),
        ("two cancellations", "what is over is cancelled"), ("a pause afterwards", "what is over is paused"),
        ("reading afterwards", "what is over reads on"),
    ])
    func `an origin refuses`(what: String, breach: String) {
        var request = TransferRequest(
            method: "POST", scheme: .http, authority: Authority(host: "a.test", port: 80), path: "/")
        if what != "a body that is not streamed" { request.body = .stream(length: what.hasPrefix("too") ? 2 : nil) }
        let origin = RecordingOrigin(request, self.transcript)
        switch what {
        case "a body that is not streamed": origin.send(ByteBuffer(string: "x"))
        case "too much": origin.send(ByteBuffer(string: "xyz"))
        case "too little": origin.finishBody(trailers: Fields())
        case "two ends", "a body behind its end":
            origin.finishBody(trailers: Fields())
            if what == "two ends" {
                origin.finishBody(trailers: Fields())
            } else {
                origin.send(ByteBuffer(string: "x"))
            }
        case "two cancellations":
            origin.cancel()
            origin.cancel()
        case "a pause afterwards":
            origin.end()
            origin.pauseReading()
        default:
            origin.end()
            origin.resumeReading()
        }
        #expect(self.transcript.breaches == [breach])
    }
}
