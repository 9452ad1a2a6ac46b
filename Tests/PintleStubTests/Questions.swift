// SPDX-License-Identifier: Apache-2.0

@testable import PintleStub

/// Writes questions, as a resolver's client does.
struct Question {
    var id: UInt16 = 0x1234
    var flags: UInt16 = 0x0100
    var counts: [UInt16] = [1, 0, 0, 0]
    var labels: [[UInt8]]
    var type: UInt16
    var kind: UInt16 = 1
    var rest: [UInt8] = []

    init(_ name: String, _ type: UInt16 = DNSQuery.RecordType.a) {
        self.labels = name.split(separator: ".").map { Array($0.utf8) }
        self.type = type
    }

    /// Returns this question with EDNS.
    func extended(version: UInt8 = 0, options: [UInt8] = []) -> Question {
        var other = self
        other.counts[3] += 1
        other.rest += [0, 0, 41, 0x04, 0xD0, 0, version, 0x80, 0, 0, UInt8(options.count)] + options
        return other
    }

    var bytes: [UInt8] {
        ([self.id, self.flags] + self.counts).flatMap(Self.bytes) + self.question + self.rest
    }

    var question: [UInt8] {
        self.labels.flatMap { [UInt8($0.count)] + $0 } + [0] + [self.type, self.kind].flatMap(Self.bytes)
    }

    static func bytes(of word: UInt16) -> [UInt8] { [UInt8(word >> 8), UInt8(word & 0xFF)] }
}
