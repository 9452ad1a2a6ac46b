// SPDX-License-Identifier: Apache-2.0

/// Skips the bytes at which none of several texts begins, most of them unseen (Wu and Manber, "A fast algorithm for multi-pattern
/// searching", 1994).
struct TextSkip: Sendable {
    /// Three bytes tell texts apart well enough, and their table is small.
    private static let block = 3
    private static let bits: UInt32 = 13

    /// By the hash of a block: the number of bytes by which a window that ends with it may move.
    private let shifts: [UInt8]
    /// The length of the shortest text.
    let window: Int

    /// - Parameter texts: as the classes of their bytes.
    init(_ texts: [[UInt8]]) {
        let window = texts.map(\.count).min() ?? 0
        self.window = window
        // A text that is shorter than a block may begin everywhere.
        let longest = UInt8(clamping: max(0, window - Self.block + 1))
        var shifts = [UInt8](repeating: longest, count: 1 << Int(Self.bits))
        for text in texts where window >= Self.block {
            for end in Self.block - 1..<window {
                let place = Self.hash(text[end - 2], text[end - 1], text[end])
                shifts[place] = min(shifts[place], UInt8(clamping: window - 1 - end))
            }
        }
        self.shifts = shifts
    }

    private static func hash(_ first: UInt8, _ second: UInt8, _ third: UInt8) -> Int {
        let block = UInt32(first) | UInt32(second) << 8 | UInt32(third) << 16
        return Int((block &* 0x9E37_79B1) >> (32 - Self.bits))
    }

    /// The first place, at or behind `start`, at which a text may begin; nil if none begins and ends in `bytes`.
    ///
    /// - Parameter classes: the classes of bytes.
    func start(in bytes: UnsafeRawBufferPointer, from start: Int, by classes: UnsafeBufferPointer<UInt8>) -> Int? {
        guard self.window >= Self.block else { return start }
        return self.shifts.withUnsafeBufferPointer { shifts in
            var end = start + self.window - 1
            while end < bytes.count {
                let shift = shifts[
                    Self.hash(
                        classes[Int(bytes[end - 2])], classes[Int(bytes[end - 1])], classes[Int(bytes[end])])]
                // A text that began before would have ended, or begun to be seen.
                if shift == 0 { return end - self.window + 1 }
                end += Int(shift)
            }
            return nil
        }
    }
}
