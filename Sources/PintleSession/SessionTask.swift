// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
internal import NIOCore
internal import PintleLoop
internal import PintleMessage

/// Joins a transfer, which lives on a loop, with a Swift task, which may be anywhere.
final class SessionTask: @unchecked Sendable {
    // Why @unchecked holds: everything mutable is touched on the loop's thread; `metrics` is behind a lock.
    private let session: Session
    private let loop: Loop
    private let finishedMetrics = NIOLockedValueBox(TransferMetrics())
    private var transfer: Transfer?
    private var continuation: CheckedContinuation<Result<SessionResponse, SessionError>, Never>?
    private var source: ResponseBody.Producer.Source?
    private var feeder: Task<Void, Never>?
    private var isCancelled = false
    private var unsent = 0
    private var waitingForRoom: CheckedContinuation<Void, Never>?

    /// The most bytes of a request's body that wait here.
    private static let uploadWindow = 64 * 1024

    init(session: Session, loop: Loop) {
        self.session = session
        self.loop = loop
    }

    var metrics: TransferMetrics { self.finishedMetrics.withLockedValue { $0 } }

    func run(_ request: TransferRequest, body: AsyncStream<ByteBuffer>?) async throws(SessionError) -> SessionResponse {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                self.loop.execute { self.begin(request, body: body, continuation) }
            }
        } onCancel: {
            self.loop.execute { self.cancel() }
        }
        return try result.get()
    }

    private func begin(
        _ request: TransferRequest, body: AsyncStream<ByteBuffer>?,
        _ continuation: CheckedContinuation<Result<SessionResponse, SessionError>, Never>
    ) {
        guard !self.isCancelled else {
            continuation.resume(returning: .failure(SessionError(.cancelled, "the task was cancelled")))
            return
        }
        self.continuation = continuation
        var request = request
        if body != nil {
            if case .stream = request.body {} else { request.body = .stream(length: nil) }
        }
        self.transfer = self.session.start(request, on: self.loop, delegate: self)
        if let body { self.feeder = Task { await self.feed(body) } }
    }

    private func feed(_ body: AsyncStream<ByteBuffer>) async {
        for await chunk in body {
            await withCheckedContinuation { (room: CheckedContinuation<Void, Never>) in
                self.loop.execute {
                    guard let transfer = self.transfer else { return room.resume() }
                    self.unsent += chunk.readableBytes
                    transfer.send(chunk)
                    if self.unsent > Self.uploadWindow { self.waitingForRoom = room } else { room.resume() }
                }
            }
        }
        self.loop.execute { self.transfer?.finishBody() }
    }

    func cancel() {
        self.isCancelled = true
        guard let transfer else { return }
        transfer.cancel()
        self.end(SessionError(.cancelled, "the task was cancelled"))
    }

    func resumeReading() { self.transfer?.resumeReading() }

    private func end(_ error: SessionError?) {
        self.transfer = nil
        self.feeder?.cancel()
        self.waitingForRoom?.resume()
        self.waitingForRoom = nil
        if let continuation {
            self.continuation = nil
            let error = error ?? SessionError(.malformedResponse, "the transfer ended without a response")
            continuation.resume(returning: .failure(error))
        } else if let error {
            self.source?.finish(error)
        } else {
            self.source?.finish()
        }
        self.source = nil
    }

    /// Tells the transfer when the reader wants more, or nothing more.
    struct Reader: NIOAsyncSequenceProducerDelegate, Sendable {
        let task: SessionTask

        func produceMore() { self.task.loop.execute { self.task.resumeReading() } }
        func didTerminate() { self.task.loop.execute { self.task.cancel() } }
    }
}

extension SessionTask: TransferDelegate {
    func transfer(_ transfer: Transfer, receivedInterim head: ResponseHead) {}

    func transfer(_ transfer: Transfer, received head: ResponseHead, length: UInt64?) {
        let producer = NIOThrowingAsyncSequenceProducer.makeSequence(
            elementType: ByteBuffer.self, failureType: (any Error).self,
            backPressureStrategy: NIOAsyncSequenceProducerBackPressureStrategies.HighLowWatermark(
                lowWatermark: 1, highWatermark: 4),
            finishOnDeinit: true, delegate: Reader(task: self))
        self.source = producer.source
        let response = SessionResponse(
            head: head, length: length, body: ResponseBody(producer: producer.sequence), task: self)
        self.continuation?.resume(returning: .success(response))
        self.continuation = nil
    }

    func transfer(_ transfer: Transfer, receivedBody bytes: UnsafeRawBufferPointer) {
        guard let source else { return }
        switch source.yield(ByteBuffer(bytes: bytes)) {
        case .produceMore: break
        case .stopProducing: transfer.pauseReading()
        case .dropped: self.cancel()
        }
    }

    func transfer(_ transfer: Transfer, receivedTrailers fields: Fields) {}

    func transfer(_ transfer: Transfer, sentBodyBytes count: Int) {
        self.unsent -= count
        guard self.unsent <= Self.uploadWindow / 2, let room = self.waitingForRoom else { return }
        self.waitingForRoom = nil
        room.resume()
    }

    func transfer(_ transfer: Transfer, connected descriptor: Int32) {}

    func transfer(_ transfer: Transfer, finishedWith error: SessionError?, metrics: TransferMetrics) {
        self.finishedMetrics.withLockedValue { $0 = metrics }
        self.end(error)
    }
}
