// SPDX-License-Identifier: Apache-2.0

internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession

/// The client's side of an ``Exchange``: takes the response, and supplies the body of the request.
///
/// The stream is responsible for framing, keep-alive, the writing of heads and the way in which a response is broken off. It
/// notifies the exchange of body bytes, of room, and of the end of the client; it does so only outside of these methods, except
/// for ``resumeBody()``. It delivers a piece of the body only while ``Exchange/wantsBody`` is true.
protocol ClientStream: AnyObject {
    /// The owner of the connections to origins on which the client authenticates.
    var owner: ConnectionOwner { get }

    /// The process of the client; nil if it is not on this machine.
    var clientProcess: ClientProcess? { get }

    /// True if the client speaks TLS with the proxy.
    var isSecure: Bool { get }

    /// False while the client reads more slowly than the exchange writes.
    var isWritable: Bool { get }

    /// Sends an interim response, if the client's version has them (RFC 9110 §15.2).
    func send(interim head: ResponseHead)

    /// Sends the head of the response, once.
    ///
    /// - Parameter length: the length of the body in bytes, also of one that would follow if the response could have a body;
    ///   nil if unknown.
    func send(_ head: ResponseHead, length: UInt64?)

    /// Sends bytes of the body. They are valid during the call only.
    ///
    /// - Returns: the number of bytes written; 0 if the response cannot have a body.
    func send(_ bytes: UnsafeRawBufferPointer) -> Int

    /// True if the body of the response may be sent in pipes.
    var takesPipes: Bool { get }

    /// Sends the content of a pipe, as far as there is room.
    ///
    /// - Returns: the number of bytes written.
    func send(_ piped: PipedBytes) -> Int

    /// Ends the response; no call follows.
    ///
    /// - Parameter trailers: omitted if the framing has no place for them.
    func finish(trailers: Fields)

    /// Breaks off the response, so that it does not look complete; no call follows.
    func cut()

    /// Resets the client's connection, or its stream, as a fault asks; no call follows.
    func reset()

    /// Delivers more of the body, because the exchange takes it again.
    func resumeBody()

    /// Returns a sentence about a defect in a `101 Switching Protocols` that is otherwise acceptable; nil if there is no
    /// defect.
    func objection(toSwitch head: ResponseHead) -> String?

    /// Returns the problem to answer instead of a response that does not switch protocols, to a client that needs the switch;
    /// nil if the response may pass.
    func needsSwitch(insteadOf head: ResponseHead) -> Problem?

    /// Hands the client's connection over to a tunnel; no call follows.
    func relay(_ terms: TunnelTerms)

    /// Opens the tunnel that the client has asked for, ending in Pintle: its content is read as further requests. No call
    /// follows.
    func open(_ tunnel: InterceptedTunnel)
}

/// The defaults, for a client that has made its request itself, and judges the response itself.
extension ClientStream {
    var isSecure: Bool { false }

    func reset() { self.cut() }

    func objection(toSwitch head: ResponseHead) -> String? { nil }

    func needsSwitch(insteadOf head: ResponseHead) -> Problem? { nil }
}
