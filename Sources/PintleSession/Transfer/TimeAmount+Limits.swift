// SPDX-License-Identifier: Apache-2.0

package import NIOCore

extension TimeAmount {
    /// Makes a time from a program's limit: never negative, and at most a hundred years, so that every moment is within
    /// a loop's range.
    init(limit: Duration) { self = .init(max(.zero, min(limit, .seconds(100 * 366 * 86_400)))) }

    /// The time in words, such as `250 ms` or `10 s`.
    package var inWords: String {
        let milliseconds = self.nanoseconds / 1_000_000
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(milliseconds) ms"
    }
}
