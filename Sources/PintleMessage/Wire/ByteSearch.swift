// SPDX-License-Identifier: Apache-2.0

internal import Glibc

extension UnsafeRawBufferPointer {
    /// Returns the first place of `byte` at or after `start`; memchr is several times faster than a loop.
    package func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        guard start < self.count, let base = self.baseAddress else { return nil }
        guard let found = memchr(base + start, Int32(byte), self.count - start) else { return nil }
        return UnsafeRawPointer(found) - base
    }

    /// True if the bytes begin with `text`.
    @inline(__always)
    func starts(with text: StaticString) -> Bool {
        guard let base = self.baseAddress, self.count >= text.utf8CodeUnitCount else { return false }
        return memcmp(base, text.utf8Start, text.utf8CodeUnitCount) == 0
    }

    /// Returns the first place of `pattern` at or after `start`. The time grows with the number of searched bytes and, if
    /// the first byte of the pattern occurs again within it, with the length of the pattern.
    package func firstIndex(of pattern: [UInt8], from start: Int) -> Int? {
        guard let first = pattern.first else { return nil }
        var place = start
        while let found = self.firstIndex(of: first, from: place), found <= self.count - pattern.count {
            let isThere = pattern.withUnsafeBufferPointer { wanted in
                for offset in wanted.indices where self[found + offset] != wanted[offset] { return false }
                return true
            }
            if isThere { return found }
            place = found + 1
        }
        return nil
    }
}
