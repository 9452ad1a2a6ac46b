// SPDX-License-Identifier: Apache-2.0

/// The bodies that are kept beside exchanges, for people who look at them afterwards.
package struct CaptureConfiguration: Sendable, Equatable {
    /// The lengths that ``bodies`` may have, in bytes.
    package static let lengths = 1...(16 << 20)

    /// The most bytes that are kept of one body, as it was on the wire.
    package var bodies: Int
    /// The exchanges whose bodies are kept. Default all.
    package var filter: ExchangeFilter

    package init(bodies: Int, filter: ExchangeFilter = .all) { (self.bodies, self.filter) = (bodies, filter) }
}
