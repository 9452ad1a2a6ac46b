// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// A length of time, fixed or left to chance: `delay`.
package enum Latency: Sendable, Equatable {
    case fixed(Duration)
    /// Every time from `min` to `max` is equally likely.
    case range(min: Duration, max: Duration)
    /// The normal distribution, cut off at zero.
    case normal(mean: Duration, deviation: Duration)
    /// The log-normal distribution that has this median, and 99 of 100 times below `p99`: the shape of most services' times.
    case longTailed(median: Duration, p99: Duration)

    /// No delay is longer: a sample of a distribution could be.
    package static let longest = Duration.seconds(3600)

    /// Takes a sample.
    package func sample(_ chance: inout SeededChance) -> Duration {
        switch self {
        case .fixed(let duration): return duration
        case .range(let min, let max): return min + Self.scaled(max - min, chance.fraction())
        case .normal(let mean, let deviation):
            let sample = mean + Self.scaled(deviation, chance.normal())
            return Swift.min(Swift.max(sample, .zero), Self.longest)
        case .longTailed(let median, let p99):
            // 2.326 standard deviations are above 99 of 100 samples.
            let spread = log(p99 / median) / 2.326
            return Swift.min(Self.scaled(median, exp(spread * chance.normal())), Self.longest)
        }
    }

    private static func scaled(_ duration: Duration, _ factor: Double) -> Duration {
        .microseconds(Int64((duration / .microseconds(1) * Swift.min(factor, 1e6)).rounded()))
    }
}

/// The chance of one decision of a simulation, which follows from its seed.
package struct SeededChance: Sendable {
    private var numbers: SplitMix64

    /// - Parameters:
    ///   - use: one of the many uses of a seed, each with numbers of its own.
    ///   - number: that of the decision.
    init(seed: UInt64, use: UInt64, number: UInt64) {
        var first = SplitMix64(seed: seed ^ (use &* 0x9E37_79B9_7F4A_7C15))
        self.numbers = SplitMix64(seed: first.next() ^ (number &* 0xD1B5_4A32_D192_ED03))
    }

    /// A seed for further choices.
    mutating func next() -> UInt64 { self.numbers.next() }

    /// A number from 0 up to 1, without 1.
    mutating func fraction() -> Double { Double(self.numbers.next() >> 11) * 0x1p-53 }

    /// A number of the standard normal distribution (Box and Muller).
    mutating func normal() -> Double {
        let (radius, angle) = (1 - self.fraction(), self.fraction())
        return (-2 * log(radius)).squareRoot() * cos(2 * .pi * angle)
    }
}
