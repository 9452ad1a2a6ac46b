// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// Facts about a server's certificate that its first bytes show.
@Suite struct ServerFlightTests {
    private func length(_ count: Int, _ size: Int) -> [UInt8] {
        (0..<size).reversed().map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) }
    }

    private func record(_ payload: [UInt8], type: UInt8 = 22) -> [UInt8] {
        [type, 3, 3] + self.length(payload.count, 2) + payload
    }

    private func message(_ type: UInt8, _ body: [UInt8]) -> [UInt8] {
        [type] + self.length(body.count, 3) + body
    }

    private func hello(extensions: [UInt8] = []) -> [UInt8] {
        let random = [UInt8](repeating: 7, count: 32)
        return self.message(
            2, [3, 3] + random + [2, 1, 2, 0xC0, 0x2F, 0] + self.length(extensions.count, 2) + extensions)
    }

    private func certificate(_ list: [[UInt8]]) -> [UInt8] {
        let entries = list.flatMap { self.length($0.count, 3) + $0 }
        return self.message(11, self.length(entries.count, 3) + entries)
    }

    private func look(_ pieces: [[UInt8]]) -> ServerFlightReader.Finding {
        var reader = ServerFlightReader()
        var finding = ServerFlightReader.Finding.undecided
        for piece in pieces { finding = reader.read(piece) }
        return finding
    }

    private let chain: [[UInt8]] = [[1, 2, 3], [4], [UInt8](repeating: 9, count: 40_000)]

    @Test func `the certificates of TLS 1.2 are seen, however records and pieces cut them`() {
        let messages = self.hello(extensions: [0, 23, 0, 0]) + self.certificate(self.chain) + self.message(14, [])
        for size in [1, 5, 1_000, 16_384, messages.count] where size < 60_000 {
            let records = stride(from: 0, to: messages.count, by: min(size, 16_384)).flatMap { start in
                self.record(Array(messages[start..<min(start + min(size, 16_384), messages.count)]))
            }
            #expect(self.look([records]) == .certificates(self.chain))
            let pieces = stride(from: 0, to: records.count, by: 7_001).map { start in
                Array(records[start..<min(start + 7_001, records.count)])
            }
            #expect(self.look(pieces) == .certificates(self.chain))
        }
        #expect(self.look(self.record(self.hello() + self.certificate([[1]])).map { [$0] }) == .certificates([[1]]))
    }

    @Test func `messages of nothing are passed over, and not for ever`() {
        let nothing = self.record([UInt8](repeating: 0, count: 64_000))
        let flight = self.record(self.hello() + self.certificate([[1]]))
        #expect(self.look([nothing, nothing, nothing, flight]) == .certificates([[1]]))
        #expect(self.look([nothing, nothing, nothing, nothing, nothing, flight]) == .tooLong)
        let records = [UInt8]([[UInt8]](repeating: self.record([]), count: 60_000).joined())
        #expect(self.look([records, flight]) == .tooLong)
    }

    @Test func `nothing is decided before the certificate is whole`() {
        let bytes = self.record(self.hello()) + self.record(self.certificate(self.chain.dropLast()))
        for count in 0..<bytes.count { #expect(self.look([Array(bytes[..<count])]) == .undecided) }
        #expect(self.look([bytes]) == .certificates(self.chain.dropLast()))
    }

    @Test func `TLS 1.3, a resumed session, an alert and other protocols hide it`() {
        let chosen: [UInt8] = [0, 51, 0, 1, 9, 0, 43, 0, 2, 3, 4]
        #expect(self.look([self.record(self.hello(extensions: chosen))]) == .hidden)
        #expect(self.look([self.record(self.hello()) + self.record([1], type: 20)]) == .hidden)
        #expect(self.look([self.record([2, 40], type: 21)]) == .hidden)
        #expect(self.look([Array("HTTP/1.1 200 OK\r\n".utf8)]) == .hidden)
        #expect(self.look([[22, 9]]) == .hidden)
    }

    @Test(
        arguments: [
            [[1, 112]], [[1, 112], [1, 90], [1, 112]], [[1], [112]], [[1, 112, 1, 112]], [[]], [[7, 0]],
        ] as [[[UInt8]]])
    func `LOOK-21 a warning before the server's flight hides nothing`(alerts: [[UInt8]]) {
        let warnings = alerts.flatMap { self.record($0, type: 21) }
        let flight = self.record(self.hello()) + self.record(self.certificate([[1, 2, 3]]))
        #expect(self.look([warnings + flight]) == .certificates([[1, 2, 3]]))
        #expect(self.look((warnings + flight).map { [$0] }) == .certificates([[1, 2, 3]]))
        // Between hello and certificate too.
        let between = self.record(self.hello()) + warnings + self.record(self.certificate([[4]]))
        #expect(self.look([between]) == .certificates([[4]]))
        #expect(self.look([warnings + self.record([2, 40], type: 21)]) == .hidden)
        #expect(self.look([warnings + self.record([1, 0], type: 21)]) == .hidden)
    }

    @Test func `LOOK-21 neither a change of cipher before the hello nor an old version in an extension hides it`() {
        let flight = self.record(self.hello()) + self.record(self.certificate([[1]]))
        #expect(self.look([self.record([1], type: 20) + flight]) == .certificates([[1]]))
        let old = self.hello(extensions: [0, 43, 0, 2, 3, 3])
        #expect(self.look([self.record(old) + self.record(self.certificate([[1]]))]) == .certificates([[1]]))
    }

    @Test func `a list that cannot be read is one without certificates`() {
        for body in [[], [0, 0], [0, 0, 5, 0, 0, 9, 1, 1], [0, 0, 2, 0, 0]] as [[UInt8]] {
            #expect(self.look([self.record(self.message(11, body))]) == .certificates([]))
        }
    }

    @Test func `a flight without an end is too long, and memory is bounded`() {
        let part = self.record([UInt8](repeating: 0, count: 16_000))
        let start = self.record([11, 0xFF, 0xFF, 0xFF])
        #expect(self.look([start] + Array(repeating: part, count: 20)) == .tooLong)
        // Messages that mean nothing are forgotten, but counted.
        let empty = self.record([UInt8](repeating: 0, count: 16_000))
        #expect(self.look(Array(repeating: empty, count: 16)) == .undecided)
        #expect(self.look(Array(repeating: empty, count: 17)) == .tooLong)
    }

    @Test(arguments: 0..<200) func `no bytes are too odd`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var bytes = self.record(self.hello(extensions: [0, 43])) + self.record(self.certificate([[1], [2, 3]]))
        for _ in 0..<(seed % 7) {
            bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
        }
        #expect(self.look([bytes]) == self.look(bytes.map { [$0] }), "\(bytes)")
    }
}
