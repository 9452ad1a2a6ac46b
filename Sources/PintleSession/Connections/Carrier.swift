// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage
internal import PintleSystem
internal import PintleTrust

/// Carries one transfer: a connection of HTTP/1.1, or a stream of one of HTTP/2.
///
/// It asks the transfer what to send, and tells it what comes. Used on its loop's thread only.
protocol Carrier: AnyObject {
    /// There is more of the body to be sent, or it may be sent now.
    func sendMore()
    /// True while the next bytes of the body can be moved to the peer through a pipe.
    var takesPipes: Bool { get }
    /// The transfer takes no more of the response for now.
    func pauseReading()
    /// The transfer takes more of the response.
    func resumeReading()
    /// Gives the transfer up, without a word to it.
    func abandon()
}

extension Carrier {
    var takesPipes: Bool { false }
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
    /// The request has not left, or the peer has taken no more requests on the connection before it came (RFC 9113 §6.8).
    case unseen
    /// The peer's frames break HTTP/2.
    case brokenFrames
    /// More frames came than are held for a client that does not take them.
    case excessive

    /// The cause in words, where there are any.
    static func words(for error: any Error) -> String? {
        switch error {
        case let error as IOError: SystemError(error.errnoCode).description
        case let failure as TLSFailure:
            if case .broken(let code) = failure.reason { SystemError(code).description } else { failure.description }
        default: nil
        }
    }
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
