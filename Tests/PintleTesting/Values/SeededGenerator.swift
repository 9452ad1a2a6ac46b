// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A random number generator with a seed (SplitMix64), so that a failure can be reproduced.
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    /// Makes a generator; the same seed gives the same numbers.
    package init(seed: UInt64) { self.state = seed }

    /// Returns the next number.
    package mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
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
