// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import Testing

/// The protocols that may be offered, and the answers that accept one (RFC 9110 §7.8).
struct UpgradeOfferTests {
    private func offer(_ fields: Fields, minorVersion: UInt8 = 1) -> UpgradeOffer? {
        UpgradeOffer(fields, minorVersion: minorVersion)
    }

    @Test func `an offer has the protocols in the client's order and spelling`() {
        let offer = self.offer(["Connection": "close, UPGRADE", "Upgrade": "WebSocket, a/1", "upgrade": "b"])
        #expect(offer?.protocols == ["WebSocket", "a/1", "b"] && offer?.value == "WebSocket, a/1, b")
    }

    @Test(arguments: [
        "h2c", "H2C", "HTTP/2.0", "http/3", "TLS/1.0", "h2", "h2c, TLS/1.2", "h2c-14", "h3-29", "", " , ",
    ])
    func `what carries requests is no offer`(value: String) {
        #expect(self.offer(["Connection": "upgrade", "Upgrade": value]) == nil)
    }

    @Test func `a protocol that is an endless character takes no quadratic time`() {
        var name = "a"
        for number in 0..<300_000 { name.unicodeScalars.append(number % 2 == 0 ? "\u{301}" : "\u{323}") }
        let offer = self.offer(["Connection": "upgrade", "Upgrade": "\(name), b"])
        #expect(offer?.protocols.count == 2 && offer?.protocols.last == "b")
    }

    @Test func `an offer is for HTTP 1.1, and for who gets it`() {
        #expect(self.offer(["Connection": "upgrade", "Upgrade": "a"], minorVersion: 0) == nil)
        #expect(self.offer(["Connection": "close", "Upgrade": "a"]) == nil)
        #expect(self.offer(["Upgrade": "a"]) == nil && self.offer(["Connection": "upgrade"]) == nil)
    }

    @Test(arguments: [
        ("websocket", "websocket"), ("WebSocket", "WebSocket"), ("a/1, websocket", "a/1, websocket"),
        ("a/2", nil), ("a", nil), ("websocket, other", nil), ("", nil), ("h2c", nil),
    ])
    func `a server switches to what it was offered`(answer: String, accepted: String?) {
        let offer = self.offer(["Connection": "upgrade", "Upgrade": "h2c, websocket, a/1"])
        #expect(offer?.accepted(by: ["Upgrade": answer]) == accepted)
        #expect(offer?.accepted(by: Fields()) == nil)
    }

    @Test(
        arguments: [
            ("GET", 200, ["Content-Length": "3"], BodyFraming.length(3)), ("GET", 200, [:], .untilClose),
            ("HEAD", 200, ["Content-Length": "3"], BodyFraming.none),
            ("GET", 304, ["Content-Length": "3"], BodyFraming.none),
            ("GET", 204, ["Transfer-Encoding": "chunked"], BodyFraming.none),
            ("GET", 200, ["Transfer-Encoding": "Chunked"], .chunked),
            ("GET", 200, ["Transfer-Encoding": "chunked", "Content-Length": "3"], nil),
            ("GET", 200, ["Transfer-Encoding": "gzip, chunked"], nil), ("GET", 200, ["Content-Length": "+3"], nil),
            ("GET", 200, ["Content-Length": "3, 3"], nil), ("GET", 200, ["Transfer-Encoding": ""], nil),
        ] as [(String, UInt16, Fields, BodyFraming?)])
    func `the end of a response's body is known, or there is an error`(
        method: String, status: UInt16, fields: Fields, framing: BodyFraming?
    ) {
        let head = ResponseHead(status: status, fields: fields)
        #expect((try? head.bodyFraming(to: method)) == framing)
    }
}
