// SPDX-License-Identifier: Apache-2.0

package import NIOCore

/// The longest silences of origins on routes without a `timeout`: long enough for legitimate work, such as computed reports,
/// first words of language models, and downloads that pause. Other limits, on numbers and memory, stop attackers.
package enum Silence {
    /// Silence before the head of a response.
    package static let beforeAnswer = TimeAmount.minutes(5)
    /// Silence within a response.
    package static let withinAnswer = TimeAmount.minutes(15)
    /// Silence in event streams and gRPC, which may be quiet for as long as tunnels.
    package static let ofStream = TimeAmount.hours(1)
    /// Silence of a client in an intercepted tunnel, after which it may be waiting for its server to speak first. A client
    /// with something to say has said it after one round trip; one that was only slow costs a connection that is not used. So
    /// it is as long as a dial waits before it tries another address (RFC 8305 §5).
    package static let inTunnel = TimeAmount.milliseconds(250)
}
