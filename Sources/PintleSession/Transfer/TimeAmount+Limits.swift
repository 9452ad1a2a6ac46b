// SPDX-License-Identifier: Apache-2.0

package import NIOCore

extension TimeAmount {
    /// A limit that a program gives: never negative, and a hundred years at most, so that no moment is beyond what a loop
    /// can count.
    init(limit: Duration) { self = .init(max(.zero, min(limit, .seconds(100 * 366 * 86_400)))) }

    /// `250 ms` or `10 s`.
    package var inWords: String {
        let milliseconds = self.nanoseconds / 1_000_000
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(milliseconds) ms"
    }
}
