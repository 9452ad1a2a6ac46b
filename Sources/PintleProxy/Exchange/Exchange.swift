// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession

/// One request and its answer, from decision to record. `Exchange+Request.swift` tells the way up,
/// `Exchange+Response.swift` the way back.
///
/// It lives on one loop together with the client's connection and the transfer, so it needs neither lock nor task.
final class Exchange {
    /// What has become of the answer.
    enum Answer {
        /// Nothing was written to the client yet.
        case none
        /// The response is kept back until its contract can be judged.
        case checking(HeldResponse)
        /// The head was written; the body follows in this framing.
        case body(ResponseFraming)
        /// Everything was written, or never will be.
        case done
    }

    let connection: ClientConnection
    let gate: Gate
    /// The request; its fields move into the outgoing request when that is made.
    var head: RequestHead
    let framing: BodyFraming
    /// The client's Accept, which decides what a problem looks like.
    let accept: String?
    /// The host of a gateway request.
    var host: String?
    private let wantsKeepAlive: Bool
    let hasEmptyBody: Bool
    var report: ExchangeReport
    var answer = Answer.none
    var rules: RouteRules?
    var transfer: Transfer?
    /// Where another protocol is offered to the origin, what carries the request.
    var upgrade: UpgradeAttempt?
    /// What the client offers; nil where none of it may pass.
    var offer: UpgradeOffer?
    /// Where the route sets a pace, what sends the body.
    var pacer: BodyPacer?
    /// What connects a tunnel whose destination has proved itself.
    var dialler: Dialler?
    /// What a tunnel's destination is asked to prove, while a handshake with it is made by an https parent.
    var asked: TunnelVerifier.Question?
    /// What a tunnel's destination has proved, while a connection to it is made.
    var proven: TunnelVerifier.Question?
    /// What a contract says of this request; nil where none is about it.
    var operation: ContractedOperation?
    /// What the response must keep to; nil where it may be anything.
    var judge: ResponseJudge?
    /// What looks at the response's body while it streams.
    var streamedCheck: StreamedCheck?
    /// Whether the response has come to its end, and its check has not.
    var awaitsCheck = false
    /// How much of the response's body has come, in bytes on the wire.
    var receivedBytes = 0
    /// Whether the body was found to be too long.
    var hasExceeded = false
    /// How much of a body with a length is still to be written.
    var owedBytes: UInt64 = 0
    /// What the head of the answer said about the connection.
    var announcedKeepAlive = false
    var decision: Decision?
    var sentTo: Gate.TrustSession?
    /// The request's body, where all of it is needed before anything can be sent.
    var heldBody: ByteBuffer?
    var requestEnded: Bool
    /// Whether it is being found out who the client is.
    var awaitsAdmission = false
    /// Whether the connection is to look for more of the body at the end of this turn.
    var resumesBody = false
    /// Of the request.
    var trailers = Fields()
    /// Work on another thread that the exchange waits for.
    var job: WorkPool.Ticket?
    /// What is drawn from the common memory for the request, and for the response.
    var requestShare = MemoryShare()
    var responseShare = MemoryShare()
    /// How many bytes of a body the transfer keeps until its end, because it may have to send it again.
    var wholeBody = 0

    init(connection: ClientConnection, head: RequestHead, framing: BodyFraming) {
        self.connection = connection
        self.gate = connection.lane.gate
        self.head = head
        self.framing = framing
        self.accept = head.fields[.accept]
        self.wantsKeepAlive = head.wantsKeepAlive && connection.refusal == nil
        self.hasEmptyBody = framing == .none && head.fields.contains(.contentLength)
        self.requestEnded = framing == .none
        self.report = ExchangeReport(
            id: connection.lane.nextID(), counters: self.gate.counters.unrouted, start: connection.lane.loop.turnTime)
    }

    // Ends have given everything back; this is for exchanges that a loop leaves behind when it stops.
    deinit { self.letGo() }

    // MARK: The client

    /// The client does not read as fast as the upstream sends.
    func clientFellBehind() {
        self.transfer?.pauseReading()
        self.upgrade?.pauseReading()
    }

    func clientCaughtUp() {
        if self.streamedCheck?.isBehind == true { return }
        self.transfer?.resumeReading()
        self.upgrade?.resumeReading()
    }

    /// The client is gone: nobody waits for the answer.
    func clientLeft() {
        if case .done = self.answer { return }
        self.report.error = "the client closed the connection"
        self.finish(.cancelled, cutting: true)
    }

    // MARK: The end

    /// Ends the exchange from the client's side: answers, or cuts the answer that has begun.
    func fail(with problem: Problem) {
        switch self.answer {
        case .none, .checking: self.refuse(problem)
        case .body:
            self.report.error = problem.detail
            self.finish(.failed, cutting: true)
        case .done: break
        }
    }

    /// - Parameter cutting: whether the answer stays incomplete, so that the connection must break.
    func finish(_ outcome: Outcome, cutting: Bool = false) {
        if case .done = self.answer { return }
        var framing: ResponseFraming?
        if case .body(let begun) = self.answer { framing = begun }
        self.answer = .done
        self.dialler?.cancel()
        self.dialler = nil
        self.forgetRunningTransfer()
        self.letGo()
        self.streamedCheck?.stop()
        self.report.close(self, outcome: outcome)
        if cutting { return self.connection.cut(self.connection.channel.isActive ? framing : nil) }
        self.connection.finished(self, keepAlive: self.keepsAlive && self.announcedKeepAlive)
    }

    /// Whether the connection can carry another request: the client wants it, and this one was taken to its end.
    var keepsAlive: Bool {
        self.requestEnded && self.wantsKeepAlive
    }

    /// Whether anybody wants to know on what grounds the origin was trusted: the log, or a policy that only reports.
    var asksForVerdict: Bool { self.gate.exchangeLog.isEnabled || self.sentTo?.session.reportsOnly == true }

    /// The transfer is over, or was handed on.
    func forgetTransfer() {
        self.transfer = nil
        self.upgrade = nil
        self.pacer?.stop()
        self.pacer = nil
    }
}

extension RequestHead {
    /// Whether the client would send another request on this connection (RFC 9112 §9.3).
    fileprivate var wantsKeepAlive: Bool {
        guard self.fields.contains(.connection) else { return self.minorVersion == 1 && !self.method.isEmpty }
        if self.fields.hasToken("close", in: .connection) { return false }
        return self.minorVersion == 1 || self.fields.hasToken("keep-alive", in: .connection)
    }
}
