// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleTesting
import Testing

/// Lists with far more members than any client sends: refused, or read once.
@Suite struct HostileListTests {
    private func refusal(of fields: String) -> WireError? {
        var parser = RequestParser(limits: HeadLimits())
        let head = Array("GET http://a/ HTTP/1.1\r\nHost: a\r\n\(fields)\r\n".utf8)
        do throws(WireError) {
            _ = try head.withUnsafeBufferPointer { (bytes) throws(WireError) in
                try parser.parse(UnsafeRawBufferPointer(bytes))
            }
            return nil
        } catch {
            return error
        }
    }

    private func list(_ count: Int) -> String { (0..<count).map { "x\($0)" }.joined(separator: ", ") }

    @Test(arguments: ["Connection", "Upgrade"])
    func `LOOK-10 a list that decides about a connection has at most 32 members`(name: String) {
        #expect(self.refusal(of: "\(name): \(self.list(32))\r\n") == nil)
        let error = WireError(.malformed, "\(name) has more than 32 members")
        #expect(self.refusal(of: "\(name): \(self.list(33))\r\n") == error)
        #expect(self.refusal(of: "\(name): \(self.list(20))\r\n\(name): \(self.list(13))\r\n") == error)
        let repeated = Array(repeating: "close", count: 2500).joined(separator: ",")
        #expect(self.refusal(of: "\(name): \(repeated)\r\n") == error)
        #expect(self.refusal(of: "\(name): close,\(String(repeating: ",", count: 10_000)) x\r\n") == nil)
    }

    @Test func `LOOK-10 trailers have no longer lists than heads`() {
        var decoder = ChunkedDecoder(limits: HeadLimits())
        let body = Array("0\r\nConnection: \(self.list(33))\r\n\r\n".utf8)
        #expect(throws: WireError(.malformed, "Connection has more than 32 members")) {
            var offset = 0
            return try body.withUnsafeBytes { (bytes) throws(WireError) in try decoder.next(bytes, from: &offset) }
        }
    }

    /// A session's responses and messages that a program makes have no such limit, so the work must not be that of the names
    /// times the fields. A thousand times as much work as for one name would take minutes here.
    @Test func `LOOK-10 Connection may name as many fields as there are`() {
        var fields: Fields = ["Host": "a"]
        for index in 0..<20_000 { fields.append("X\(index)", "1") }
        fields.append("X-Kept", "1")
        for start in stride(from: 0, to: 20_000, by: 100) {
            fields.append("Connection", (start..<start + 100).map { "x\($0)" }.joined(separator: ","))
        }
        Forwarding.removeHopByHop(from: &fields)
        #expect(fields == ["Host": "a", "X-Kept": "1"])
    }

    @Test func `lines of one name are replaced and removed in their order`() {
        var fields: Fields = ["A": "1", "B": "1", "a": "2", "C": "1", "A": "3", "B": "2"]
        fields.set("a", "x")
        #expect(fields == ["a": "x", "B": "1", "C": "1", "B": "2"])
        fields.remove("b")
        #expect(fields == ["a": "x", "C": "1"])
        var many = Fields()
        for index in 0..<50_000 { many.append(index.isMultiple(of: 2) ? "X-Many" : "Y-\(index)", "1") }
        many.remove("x-many")
        #expect(many.count == 25_000 && many.pairs.last?.name == "Y-49999")
    }

    @Test func `a server's answer to a long offer is read once`() {
        let names = (0..<5000).map { "p\($0)" }
        let head = RequestHead(
            method: "GET", target: .origin(path: "/"),
            fields: ["Connection": "upgrade", "Upgrade": names.joined(separator: ",")])
        let answer: Fields = ["Upgrade": names.reversed().joined(separator: ",").uppercased()]
        #expect(UpgradeOffer(head.fields, minorVersion: head.minorVersion)?.accepted(by: answer) != nil)
    }

    /// `String` compares runs of combining marks in quadratic time: half a million would take minutes for each comparison.
    @Test func `a transfer coding of combining marks is none that is known, at once`() throws {
        let fields: Fields = ["Transfer-Encoding": String(repeating: "\u{301}\u{316}", count: 250_000)]
        let request = RequestHead(method: "POST", target: .origin(path: "/"), fields: fields)
        #expect(throws: WireError.self) { try request.bodyFraming() }
        #expect(throws: WireError.self) { try ResponseHead(status: 200, fields: fields).bodyFraming(to: "GET") }
    }
}
