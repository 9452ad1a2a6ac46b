// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import Testing

@testable import PintleProxy

/// The heads that exchanges keep until their ends.
struct KeptHeadsTests {
    private let block = HeadBlock(capacity: 16)
    private let target = RequestTarget.absolute(
        scheme: .http, authority: Authority(host: "a.example", port: 8080), path: "/a?b=ä")

    private var kept: KeptHeads { KeptHeads(self.block) }

    @Test func `heads come out as they went in`() {
        let request: Fields = ["Host": "a.example", "X-Empty": "", "x-empty": "ä", "X-Colon": "a: b:c"]
        self.block.begin("GET", self.target, request)
        #expect(self.kept.method == "GET" && self.kept.target == self.target && self.kept.requestFields == request)
        #expect(self.kept.responseFields.isEmpty)
        self.block.keep(response: ["Content-Type": "text/plain"])
        #expect(self.kept.requestFields == request && self.kept.responseFields == ["Content-Type": "text/plain"])
        #expect(self.block.bytes.count == self.block.shape.length)
    }

    @Test func `a section from which lines were removed, or whose order has changed, is kept as it is`() {
        var fields: Fields = ["A": "1", "B": "22", "C": "3", "B": "4"]
        fields.set("A", "9")
        fields.remove("B")
        fields.append("D", "5")
        self.block.begin("", .asterisk, fields)
        #expect(self.kept.requestFields == ["A": "9", "C": "3", "D": "5"])
        #expect(self.kept.method.isEmpty && self.kept.target == .asterisk)
    }

    @Test func `a later response takes the place of an earlier one`() {
        self.block.begin("GET", self.target, ["A": "1"])
        self.block.keep(response: ["First": String(repeating: "x", count: 5000)])
        self.block.keep(response: [:])
        #expect(self.kept.responseFields.isEmpty && self.kept.requestFields == ["A": "1"])
        self.block.keep(response: ["Second": "2"])
        #expect(self.kept.responseFields == ["Second": "2"])
    }

    @Test func `a block serves one exchange after the other, unless it has grown large`() {
        let pool = HeadBlock.Pool()
        let (first, second) = (pool.take(), pool.take())
        #expect(first !== second)
        first.begin("GET", self.target, ["A": "1"])
        first.keep(response: ["B": "2"])
        second.begin("GET", self.target, ["A": String(repeating: "x", count: 9000)])
        pool.giveBack(first)
        pool.giveBack(second)
        let again = pool.take()
        #expect(again === first && pool.take() !== second)
        again.begin("PUT", .origin(path: "/"), ["C": "3"])
        let kept = KeptHeads(again)
        #expect(kept.method == "PUT" && kept.target == .origin(path: "/"))
        #expect(kept.requestFields == ["C": "3"] && kept.responseFields.isEmpty)
    }

    @Test(arguments: [RequestTarget.authority(Authority(host: "2001:db8::1", port: 443)), .origin(path: "/?a")])
    func `every form of a target comes out`(target: RequestTarget) {
        self.block.begin("CONNECT", target, [:])
        #expect(self.kept.target == target && self.kept.method == "CONNECT")
    }
}
