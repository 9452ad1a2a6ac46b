// SPDX-License-Identifier: Apache-2.0

import PintlePins
import Testing

struct RoundTripTests {
    private static let texts = PinFormat.allCases.filter { $0 != .cer }

    /// Returns sets that the format can express: some formats lack scopes, ports, or sets without hosts.
    private static func sets(for format: PinFormat, _ random: inout RandomPins, number: Int) -> [PinSet] {
        let narrow: [PinnedHost.Scope] = [.itself, .itselfAndBelow]
        switch format {
        case .trustkit, .android: return random.sets(scopes: narrow)
        case .okhttp: return random.sets(scopes: narrow + [.oneLabelBelow])
        case .pintle: return random.sets(scopes: narrow + [.below], hasPorts: true)
        case .sha256, .curl, .hpkp, .envoy, .cer:
            return random.sets(
                scopes: narrow + [.below, .oneLabelBelow], hasPorts: true, hasHosts: number.isMultiple(of: 2))
        }
    }

    @Test(arguments: texts)
    func `what a format can say it reads as it was written`(format: PinFormat) throws {
        for number in 0..<100 {
            var random = RandomPins(seed: UInt64(number))
            let sets = Self.sets(for: format, &random, number: number)
            // HPKP requires a number of seconds; this one represents none.
            if format == .hpkp, sets.contains(where: { $0.maxAge == 5_184_000 }) { continue }
            let written = try format.write(sets)
            let read = try format.read(written.text)
            try #require(read.sets == sets, "seed \(number):\n\(written.text)")
            #expect(read.remarks.isEmpty, "seed \(number)")
            #expect(try format.write(read.sets).text == written.text, "seed \(number)")
        }
    }

    @Test(arguments: texts)
    func `there and back through any other format is the identity`(format: PinFormat) throws {
        for number in 0..<20 {
            var random = RandomPins(seed: UInt64(number))
            let sets = random.sets()
            if sets.contains(where: { $0.maxAge == 5_184_000 }) { continue }
            for other in Self.texts {
                let there = try format.write(sets).text
                let between = try other.write(try format.read(there).sets).text
                let back = try format.write(try other.read(between).sets).text
                try #require(back == there, "seed \(number), \(format) and \(other):\n\(between)")
            }
        }
    }

    @Test(arguments: texts)
    func `a list without hosts comes back from any format`(format: PinFormat) throws {
        let list = "\(try pin(1))\n\(try pin(2))\n"
        let other = try format.write(try PinFormat.sha256.read(list).sets)
        #expect(try PinFormat.sha256.write(try format.read(other.text).sets).text == list, "\(other.text)")
        let needsHosts: Set<PinFormat> = [.trustkit, .android, .okhttp]
        #expect(other.losses.contains { $0.contains("host.invalid") } == needsHosts.contains(format))
    }

    @Test(arguments: texts)
    func `without comments every note counts as lost`(format: PinFormat) throws {
        var set = PinSet(name: "payments", hosts: [PinnedHost("api.example")], pins: [try pin(1), try pin(2)])
        set.maxAge = 60
        let written = try format.write([set], isBare: true)
        let noted = try format.write([set])
        let comments = noted.text.components(separatedBy: "pintle-").count - 1
        #expect(!written.text.contains("pintle-"))
        #expect(written.losses.count == noted.losses.count + comments)
    }
}

extension String {
    fileprivate func components(separatedBy text: String) -> [Substring] { self.split(separator: text) }
}
