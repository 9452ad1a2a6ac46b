// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage

/// Carries one transfer: a connection of HTTP/1.1, or a stream of one of HTTP/2.
///
/// It asks the transfer what to send, and tells it what comes. Used on its loop's thread only.
protocol Carrier: AnyObject {
    /// There is more of the body to be sent, or it may be sent now.
    func sendMore()
    /// The transfer takes no more of the response for now.
    func pauseReading()
    /// The transfer takes more of the response.
    func resumeReading()
    /// Gives the transfer up, without a word to it.
    func abandon()
}

/// Tells why a carrier is of no more use to its transfer.
enum CarrierFailure {
    /// The peer ended the connection before the response was complete.
    case closed
    /// The connection broke, with the cause in words.
    case broken(String?)
    /// The peer's bytes are no response.
    case malformed(WireError)
    /// The peer ended the stream of HTTP/2.
    case reset
    /// The peer has done nothing with the request, and says so (RFC 9113 §8.7).
    case refused
    /// The peer's frames break HTTP/2.
    case brokenFrames
}

/// A connection that a pool keeps while nobody uses it: a member of a list that knows its neighbours.
protocol KeptConnection: AnyObject {
    /// When it was kept.
    var keptSince: NIODeadline { get }
    /// The one that was kept before it.
    var older: (any KeptConnection)? { get set }
    /// The one that was kept after it.
    var newer: (any KeptConnection)? { get set }
    /// Closes it.
    func close()
}
