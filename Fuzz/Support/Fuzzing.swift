// SPDX-License-Identifier: Apache-2.0

/// libFuzzer's bytes, in a separate array: AddressSanitizer reports reads past its end.
package func fuzzedBytes(_ data: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
    Array(UnsafeBufferPointer(start: data, count: count))
}

/// Ends the process if a property does not hold; libFuzzer reports that as a finding.
package func hold(_ holds: Bool, _ property: @autoclosure () -> String) {
    if !holds { fatalError("does not hold: \(property())") }
}

/// Returns the value or the error of `body`, to compare two ways to one verdict.
package func outcome<Value, Failure>(_ body: () throws(Failure) -> Value) -> Result<Value, Failure> {
    Result(catching: body)
}

extension [UInt8] {
    /// These bytes in pieces of 1 to 64 bytes or, for some documents, of up to 3 bytes.
    ///
    /// The cuts depend on the bytes alone, so that a finding can be reproduced.
    package var pieces: [[UInt8]] {
        // FNV-1a, and on top one of Knuth's generators.
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

    /// The bytes before the first `separator` and those after it; all bytes and none if there is no separator.
    package func split(at separator: UInt8) -> (first: [UInt8], rest: [UInt8]) {
        guard let place = self.firstIndex(of: separator) else { return (self, []) }
        return (Array(self[..<place]), Array(self[(place + 1)...]))
    }
}

extension Result {
    /// The error of a failure; nil for a success.
    package var failure: Failure? {
        guard case .failure(let error) = self else { return nil }
        return error
    }
}
