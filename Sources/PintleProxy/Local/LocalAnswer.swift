// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
package import PintleActivity
internal import PintleCache
package import PintleLoop
package import PintleMessage
package import PintleSession
package import PintleSystem
internal import PintleTrust

/// An answer of Pintle's own in the place of an origin's: of a ``LocalService``, or of a simulation. Used on its loop's thread
/// only.
package final class LocalAnswer: OriginStream {
    private enum State {
        /// The body of the request is on its way.
        case receiving(then: (LocalAnswer) -> Void)
        /// The service has not answered.
        case asked
        case answering(any LocalBody)
        case over
    }

    package let loop: Loop
    /// Nil for a service of Pintle's own.
    package let simulation: Simulation?
    private let delegate: any TransferDelegate
    private var state = State.asked
    /// False while the client reads more slowly than the body comes.
    private var hasRoom = true
    /// True while pieces are asked for, now or in the next turn.
    private var isMoving = false

    /// The bytes that are given to the client in a turn.
    private static let enough = 64 << 10

    init(
        to request: LocalRequest, of service: any LocalService, for delegate: any TransferDelegate, on loop: Loop
    ) {
        (self.loop, self.delegate, self.simulation) = (loop, delegate, nil)
        // The delegate is answered in a later turn.
        LoopBound(self, loop: loop).run { answer in
            // The client has left.
            if case .over = answer.state { return }
            service.answer(request, by: answer)
        }
    }

    /// Answers in the place of the origin of a request.
    ///
    /// - Parameter begin: called in a later turn, once the body of the request has arrived; unless the client has left.
    package init(
        as simulation: Simulation, to request: TransferRequest, for delegate: any TransferDelegate, on loop: Loop,
        _ begin: @escaping (LocalAnswer) -> Void
    ) {
        (self.loop, self.delegate, self.simulation) = (loop, delegate, simulation)
        self.state = .receiving(then: begin)
        let expects = request.fields.hasToken("100-continue", in: .expect)
        guard case .stream = request.body else {
            self.received()
            return
        }
        // The client sends its body only when it is told to (RFC 9110 §10.1.1).
        if expects {
            LoopBound(self, loop: loop).run {
                if !$0.isOver { $0.delegate.originSent(interim: ResponseHead(status: 100, reason: "Continue")) }
            }
        }
    }

    private func received() {
        // The client has left.
        guard case .receiving(let begin) = self.state else { return }
        self.state = .asked
        LoopBound((self, begin), loop: self.loop).run { answer, begin in if !answer.isOver { begin(answer) } }
    }

    // MARK: The service

    /// True once nothing more is sent: the answer is complete, or the client has left.
    package var isOver: Bool { if case .over = self.state { true } else { false } }

    /// Answers with a whole body.
    package func send(_ head: ResponseHead, _ body: [UInt8]) {
        self.send(head, length: UInt64(body.count), Whole(body))
    }

    /// Answers, once; does nothing if the client has left.
    ///
    /// - Parameter length: of the body in bytes; nil if it is not known.
    package func send(_ head: ResponseHead, length: UInt64?, _ body: any LocalBody) {
        switch self.state {
        case .over: body.stop()
        case .answering: preconditionFailure("BUG: a request is answered twice")
        case .receiving, .asked:
            self.state = .answering(body)
            self.delegate.originAnswered(head, length: length)
            self.resume()
        }
    }

    /// Switches to another protocol, once (RFC 9110 §7.8). The client's connection becomes one end of a tunnel; its other end is
    /// a pair of sockets, so that a service has a connection as every other has, and the tunnel its limits.
    ///
    /// - Parameter head: a `101 Switching Protocols`, with a protocol that the request offers.
    /// - Returns: the service's end, which is to be started; nil if the client has left.
    /// - Throws: the reason why there is no pair of sockets. The request still needs an answer.
    package func switchProtocols(_ head: ResponseHead) throws(SystemError) -> SocketChannel? {
        switch self.state {
        case .over: return nil
        case .answering: preconditionFailure("BUG: a request is answered twice")
        case .receiving, .asked: break
        }
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw .last }
        self.state = .over
        let channel = SocketChannel(descriptor: ends[1], loop: self.loop)
        self.delegate.originHandedOver(
            ConnectionHandoff(connection: EstablishedConnection(socket: ends[0]), head: head, version: "1.1"),
            TransferMetrics())
        return channel
    }

    /// Asks the body for more, after it had none.
    package func resume() {
        if self.isMoving { return }
        self.isMoving = true
        self.move()
    }

    private func move() {
        var count = 0
        while self.hasRoom, count < Self.enough, case .answering(let body) = self.state {
            switch body.next() {
            case .bytes(let bytes):
                count += bytes.count
                bytes.withUnsafeBytes { self.delegate.originSent($0) }
            case .later:
                self.isMoving = false
                return
            case .end:
                self.state = .over
                self.delegate.originEnded(nil, TransferMetrics())
            }
        }
        self.isMoving = false
        // Others get their turn before the rest.
        guard count >= Self.enough, self.hasRoom, !self.isOver else { return }
        self.isMoving = true
        LoopBound(self, loop: self.loop).run { $0.move() }
    }

    private final class Whole: LocalBody {
        private var bytes: [UInt8]?

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        func next() -> LocalPiece { self.bytes.take().map { .bytes($0) } ?? .end }

        func stop() {}
    }

    // MARK: The exchange

    var verdict: Verdict? { nil }
    var proxyVerdict: Verdict? { nil }
    var responseVersion: String { "1.1" }
    // Bytes of the request are read and dropped: a service has got them before, and a simulation needs none.
    var unsentBodyBytes: Int { 0 }
    func send(_ bytes: ByteBuffer) { self.delegate.originTookBody(bytes.readableBytes) }
    func finishBody(trailers: Fields) { self.received() }
    func takePipes() {}

    func pauseReading() { self.hasRoom = false }

    func resumeReading() {
        self.hasRoom = true
        self.resume()
    }

    func cancel() {
        if case .answering(let body) = self.state { body.stop() }
        self.state = .over
    }
}

extension Worker {
    /// Asks a part of Pintle that stands in the place of an origin.
    func ask(
        _ service: any LocalService, _ request: LocalRequest, for delegate: any TransferDelegate
    ) -> any OriginStream {
        LocalAnswer(to: request, of: service, for: delegate, on: self.loop)
    }
}
