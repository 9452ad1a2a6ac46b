// SPDX-License-Identifier: Apache-2.0

/// The bytes that libFuzzer made, as an array of their own: what reads past its end is a report of AddressSanitizer.
package func fuzzedBytes(_ data: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
    Array(UnsafeBufferPointer(start: data, count: count))
}

/// Ends the process where a property does not hold, which libFuzzer takes for a finding.
package func hold(_ holds: Bool, _ property: @autoclosure () -> String) {
    if !holds { fatalError("does not hold: \(property())") }
}

/// What `body` returns or throws, so that two ways to one verdict can be compared.
package func outcome<Value, Failure>(_ body: () throws(Failure) -> Value) -> Result<Value, Failure> {
    Result(catching: body)
}

extension [UInt8] {
    /// The same bytes in pieces of 1 to 64 or, for some documents, of up to 3 bytes.
    ///
    /// Where the cuts are depends on the bytes alone, so a finding stays one.
    package var pieces: [[UInt8]] {
        // FNV-1a, and a generator of Knuth's on top.
        var state: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in self { state = (state ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let longest: UInt64 = state & 1 == 0 ? 64 : 3
        var pieces: [[UInt8]] = []
        var start = 0
        while start < self.count {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let end = Swift.min(self.count, start + 1 + Int((state >> 33) % longest))
            pieces.append(Array(self[start..<end]))
            start = end
        }
        return pieces
    }

    /// What stands before the first `separator` and what after it; all and nothing where there is none.
    package func split(at separator: UInt8) -> (first: [UInt8], rest: [UInt8]) {
        guard let place = self.firstIndex(of: separator) else { return (self, []) }
        return (Array(self[..<place]), Array(self[(place + 1)...]))
    }
}

extension Result {
    /// What was thrown, if something was.
    package var failure: Failure? {
        guard case .failure(let error) = self else { return nil }
        return error
    }
}
