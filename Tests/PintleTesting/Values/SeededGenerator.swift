// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// A random number generator with a seed, so that a failure can be reproduced.
package struct SeededGenerator: RandomNumberGenerator {
    private var numbers: SplitMix64

    /// Makes a generator; the same seed gives the same numbers.
    package init(seed: UInt64) { self.numbers = SplitMix64(seed: seed) }

    /// Returns the next number.
    package mutating func next() -> UInt64 { self.numbers.next() }
}

/// A seed for tests of the order of events. No seed can repeat such an order, so each run tries other choices.
///
/// `PINTLE_SEED` names a seed, to try its choices again. A test reports the seed with its findings.
package enum Seed {
    package static let ofThisRun: UInt64 = {
        if let text = getenv("PINTLE_SEED"), let seed = UInt64(String(cString: text)) { return seed }
        return .random(in: 0...0xFFFF_FFFF)
    }()
}
