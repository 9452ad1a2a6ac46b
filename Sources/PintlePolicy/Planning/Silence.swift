// SPDX-License-Identifier: Apache-2.0

package import NIOCore

/// The longest silences of origins on routes without a `timeout`, long enough for honest work: reports that are computed, first
/// words of language models, downloads that pause. Who attacks is held by numbers and memory, and not by these.
package enum Silence {
    /// Before the head of an answer.
    package static let beforeAnswer = TimeAmount.minutes(5)
    /// Within an answer.
    package static let withinAnswer = TimeAmount.minutes(15)
    /// In streams of events and in gRPC, which may have nothing to say for long, as tunnels.
    package static let ofStream = TimeAmount.hours(1)
    /// Of a client in an intercepted tunnel, before it may be one that waits for its server to speak first. A client with something
    /// to say has said it after one round trip; one that was only slow costs a connection that is not used. So it is as long as a
    /// dial waits before it tries another address (RFC 8305 §5).
    package static let inTunnel = TimeAmount.milliseconds(250)
}
