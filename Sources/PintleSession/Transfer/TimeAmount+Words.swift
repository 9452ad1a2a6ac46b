// SPDX-License-Identifier: Apache-2.0

package import NIOCore

extension TimeAmount {
    /// `250 ms` or `10 s`.
    package var inWords: String {
        let milliseconds = self.nanoseconds / 1_000_000
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(milliseconds) ms"
    }
}
