// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage
internal import PintleSystem
internal import PintleTrust

/// Carries one transfer: a connection of HTTP/1.1, or a stream of a connection of HTTP/2.
///
/// It asks the transfer for bytes to send, and passes it received ones. Used only on its loop's thread.
protocol Carrier: AnyObject {
    /// Called when there is more of the body to be sent, or when it may be sent now.
    func sendMore()
    /// True while the next bytes of the body can be moved to the peer through a pipe.
    var takesPipes: Bool { get }
    /// Called when the transfer takes no more of the response for now.
    func pauseReading()
    /// Called when the transfer takes more of the response.
    func resumeReading()
    /// Drops the transfer without notifying it.
    ///
    /// - Parameter silence: the second half of a suspiciously long time in which the peer has said nothing to the transfer, by its
    ///   beginning; nil if there was none.
    func abandon(after silence: NIODeadline?)
}

extension Carrier {
    var takesPipes: Bool { false }
}

/// The reason why a carrier can no longer serve its transfer.
enum CarrierFailure {
    /// The peer ended the connection before the response was complete.
    case closed
    /// The connection broke, with the cause in words.
    case broken(String?)
    /// The peer's bytes are not a valid response.
    case malformed(WireError)
    /// The peer ended the stream of HTTP/2.
    case reset
    /// The peer has not processed the request, and says so (RFC 9113 §8.7).
    case refused
    /// The peer asks for HTTP/1.1 in place of HTTP/2 (RFC 9113 §7), and another connection may speak it.
    case http1Required
    /// The request was not sent, or the peer took no more requests on the connection before it came (RFC 9113 §6.8).
    case unseen
    /// The peer's frames violate HTTP/2.
    case brokenFrames
    /// More frames arrived than are held for a client that does not take them.
    case excessive

    /// Returns the error of a transfer that the failure ends.
    ///
    /// - Parameter received: the part of the response that had come.
    func error(of peer: Authority, after received: ResponsePart) -> SessionError {
        let isBehindHead: SessionError.Code = received.hasHead ? .truncated : .connectionBroken
        return switch self {
        case .malformed(let error):
            SessionError(.malformedResponse, "the response of \(peer) is malformed: \(error.message)")
        case .broken(let cause): SessionError(isBehindHead, "the connection to \(peer) broke", cause: cause)
        case .closed:
            switch received {
            case .nothing: SessionError(.connectionBroken, "\(peer) closed without a response")
            case .bytes: SessionError(.malformedResponse, "\(peer) sent no complete response head")
            case .chunks: SessionError(.truncated, "\(peer) sent no last chunk")
            case .head: SessionError(.truncated, "\(peer) closed before the response was complete")
            }
        case .reset, .refused, .unseen: SessionError(isBehindHead, "\(peer) ended the stream of HTTP/2")
        case .http1Required: SessionError(isBehindHead, "\(peer) asks for HTTP/1.1 in place of HTTP/2")
        case .excessive:
            SessionError(isBehindHead, "\(peer) sent more frames of a few bytes than are held until they are taken")
        case .brokenFrames where received.hasHead: SessionError(.truncated, "the connection to \(peer) broke")
        case .brokenFrames:
            SessionError(
                .malformedResponse, "the response of \(peer) is not HTTP", cause: "its frames break HTTP/2")
        }
    }

    /// Returns the cause in words, if there are any.
    static func words(for error: any Error) -> String? {
        switch error {
        case let error as IOError: SystemError(error.errnoCode).description
        case let failure as TLSFailure:
            if case .broken(let code) = failure.reason { SystemError(code).description } else { failure.description }
        default: nil
        }
    }
}

/// The part of a response that a carrier has received.
enum ResponsePart: Equatable {
    case nothing
    /// Bytes, or interim responses, but no complete final head.
    case bytes
    case head
    /// The head, of a body whose last chunk is missing.
    case chunks

    var hasHead: Bool { self == .head || self == .chunks }
}
