// SPDX-License-Identifier: Apache-2.0

import PintlePins
import PintlePolicy
import PintleTrust
import Testing

/// Files with many pins and sets. With quadratic work each of these would take minutes or hours.
struct LargeFileTests {
    /// The pin of a key that does not exist.
    private func text(_ number: Int) -> String {
        let digits = "\(number)"
        return "sha256/\(digits)\(String(repeating: "A", count: 43 - digits.utf8.count))="
    }

    @Test(.timeLimit(.minutes(15))) func `a host has the pins of all its calls`() throws {
        let calls = (0..<30_000).map { ".add(\"a.example\", \"\(self.text($0))\")\n" }.joined()
        let sets = try PinFormat.okhttp.read(calls).sets
        #expect(sets.map(\.pins.count) == [30_000])
    }

    @Test(.timeLimit(.minutes(15))) func `sets without hosts get names of their own`() throws {
        let sets = try (0..<30_000).map { PinSet(pins: [try Pin(self.text($0))]) }
        let written = try PinFormat.pintle.write(sets).text
        for name in ["pinned", "pinned-2", "pinned-30000"] {
            #expect(written.contains("\n  \(name):\n"), "\(name)")
        }
    }

    @Test(.timeLimit(.minutes(15))) func `each lost port is told`() throws {
        let sets = try (0..<30_000).map {
            PinSet(hosts: [PinnedHost("h\($0).example", port: 8443)], pins: [try Pin(self.text($0))])
        }
        #expect(try PinFormat.android.write(sets).losses.count == 30_000)
    }

    @Test(.timeLimit(.minutes(15))) func `pins that never apply are found among many hosts`() throws {
        let hosts = (0..<60_000).map { "10.\($0 / 256).\($0 % 256).1" } + (1...30_000).map { "a.test:\($0)" }
        let yaml = """
            version: 1
            trust:
              wide: {hosts: ["10.0.0.0/8", a.test]}
              pinned: {pinning: public_key, pins: ["\(self.text(1))", "\(self.text(2))"], hosts: [\(hosts.joined(separator: ", "))]}
            """
        let policy = try PolicyLoader.policy(yaml: Array(yaml.utf8), file: "pintle.yaml", surroundings: nowhere)
        #expect(PinLint.shadowedPins(policy).count == 90_000)
    }
}
