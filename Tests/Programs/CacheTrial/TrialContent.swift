// SPDX-License-Identifier: Apache-2.0

/// Bodies that a number determines, so that their readers can tell whether they are whole.
package enum TrialContent {
    /// The length of a body: some are empty, most have a few KiB, and some have several blocks.
    package static func length(_ number: UInt64) -> Int {
        let random = Self.mix(number)
        switch random % 8 {
        case 0: return 0
        case 1...5: return Int((random >> 8) % 9000)
        default: return Int((random >> 8) % 300_000)
        }
    }

    /// The bytes of a body.
    package static func bytes(_ number: UInt64, count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        var state = number
        while bytes.count < count {
            state &+= 0x9E37_79B9_7F4A_7C15
            withUnsafeBytes(of: Self.mix(state)) { bytes.append(contentsOf: $0) }
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    /// The mixing function of SplitMix64.
    package static func mix(_ number: UInt64) -> UInt64 {
        var mixed = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
