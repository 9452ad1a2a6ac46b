// SPDX-License-Identifier: Apache-2.0

import PintlePins
import PintlePolicy
import PintleTesting
import PintleTrust

/// An environment without files and variables.
let nowhere = LoaderEnvironment(
    environment: [:],
    read: { (_, _) throws(LoaderEnvironment.ReadingError) -> [UInt8] in throw .notFound },
    exists: { _ in false })

/// The pin whose digest repeats a byte.
func pin(_ byte: UInt8) throws -> Pin {
    let digits = String(byte, radix: 16)
    return try Pin(String(repeating: digits.count < 2 ? "0\(digits)" : digits, count: 32))
}

extension PinFormat {
    /// Reads a text.
    func read(_ text: String) throws(PinFormatError) -> PinFormat.Content {
        try self.read(Array(text.utf8), file: "pins", nowhere)
    }

    /// Returns the error of reading a text; nil if there is none.
    func problem(_ text: String) -> String? {
        do throws(PinFormatError) {
            _ = try self.read(text)
            return nil
        } catch {
            return error.description
        }
    }
}

/// Sets of pins that some format could have.
struct RandomPins {
    var generator: SeededGenerator

    init(seed: UInt64) { self.generator = SeededGenerator(seed: seed) }

    /// Up to four sets whose hosts are distinct.
    ///
    /// - Parameter scopes: the scopes that a host may have.
    mutating func sets(
        scopes: [PinnedHost.Scope] = [.itself, .itselfAndBelow], hasPorts: Bool = false, hasHosts: Bool = true
    ) -> [PinSet] {
        var sets: [PinSet] = []
        var names = ["api.example", "xn--bcher-kva.example", "pay.example", "a.b.c.example", "x-1.example", "z.test"]
            .shuffled(using: &self.generator)
        for number in 0..<Int.random(in: 1...4, using: &self.generator) {
            var set = PinSet(pins: (0..<Int.random(in: 1...4, using: &self.generator)).map { _ in self.pin() })
            let count = hasHosts ? Int.random(in: 1...2, using: &self.generator) : 0
            for _ in 0..<count {
                guard let name = names.popLast() else { continue }
                let port: UInt16? = hasPorts && self.coin() ? .random(in: 1...65_535, using: &self.generator) : nil
                set.hosts.append(PinnedHost(name, scopes.randomElement(using: &self.generator) ?? .itself, port: port))
            }
            guard !set.hosts.isEmpty || !hasHosts else { continue }
            if self.coin() { set.name = "policy--\(number)" }
            if self.coin() { set.expires = UnixTime(seconds: .random(in: 0...90_000, using: &self.generator) * 86_400) }
            if set.expires != nil, self.coin() { set.onExpiry = .fail }
            if self.coin() { set.maxAge = .random(in: 1...100_000_000, using: &self.generator) }
            if self.coin() { set.reportURIs = ["https://r.example/a?b=\"c\"&d=%41--e"] }
            if self.coin() { set.reportURIs.append("https://r.example/two") }
            set.isEnforced = self.coin()
            sets.append(set)
        }
        return PinSet.normalized(sets)
    }

    private mutating func coin() -> Bool { Bool.random(using: &self.generator) }

    private mutating func pin() -> Pin {
        let digits = (0..<64).map { _ in String(Int.random(in: 0..<16, using: &self.generator), radix: 16) }
        // 64 hexadecimal digits are a pin.
        guard let pin = try? Pin(digits.joined()) else { preconditionFailure("64 digits: \(digits)") }
        return pin
    }
}
