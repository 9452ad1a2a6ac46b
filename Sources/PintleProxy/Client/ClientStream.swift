// SPDX-License-Identifier: Apache-2.0

internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession

/// Stands for the client in an ``Exchange``: takes the answer, and gives the body of the request.
///
/// Framing, keep-alive, the writing of heads and the way in which an answer breaks off belong to the stream. It tells the
/// exchange of the body, of room, and of the end of the client, never from within one of these methods but
/// ``resumeBody()``, and gives a piece of the body only while ``Exchange/wantsBody`` is true.
protocol ClientStream: AnyObject {
    /// The owner of connections to origins on which the client logs in.
    var owner: ConnectionOwner { get }

    /// False while the client does not read as fast as is written.
    var isWritable: Bool { get }

    /// Sends an interim response, where the client knows such (RFC 9110 §15.2).
    func send(interim head: ResponseHead)

    /// Sends the head of the answer, once.
    ///
    /// - Parameter length: of the body that follows, or that would follow if the answer could have one, in bytes; nil where it
    ///   is not known.
    func send(_ head: ResponseHead, length: UInt64?)

    /// Sends bytes of the body, which are valid during the call only.
    ///
    /// - Returns: how many of them are written: none where the answer has no body by its nature.
    func send(_ bytes: UnsafeRawBufferPointer) -> Int

    /// True where the body that was begun may be sent in pipes.
    var takesPipes: Bool { get }

    /// Sends what is in a pipe, as far as there is room for it.
    ///
    /// - Returns: how many bytes are written.
    func send(_ piped: PipedBytes) -> Int

    /// Ends the answer; nothing follows it.
    ///
    /// - Parameter trailers: left out where the framing has no place for them.
    func finish(trailers: Fields)

    /// Breaks the answer off, so that it does not look complete; nothing follows.
    func cut()

    /// Gives more of the body, where the exchange takes it again.
    func resumeBody()

    /// Says what is wrong with a `101 Switching Protocols` that would otherwise pass, in a sentence; nil where nothing is.
    func objection(toSwitch head: ResponseHead) -> String?

    /// The answer in the place of one that does not switch protocols, to a client for whom that is all that counts; nil where
    /// the response may pass.
    func needsSwitch(insteadOf head: ResponseHead) -> Problem?

    /// Leaves the connection of the client to a tunnel; nothing follows.
    func relay(_ terms: TunnelTerms)

    /// Opens the tunnel that the client has asked for to itself: what is in it comes as further requests. Nothing follows.
    func open(_ tunnel: InterceptedTunnel)
}

/// A client that has made its request itself, and judges itself what becomes of it.
extension ClientStream {
    func objection(toSwitch head: ResponseHead) -> String? { nil }

    func needsSwitch(insteadOf head: ResponseHead) -> Problem? { nil }
}
