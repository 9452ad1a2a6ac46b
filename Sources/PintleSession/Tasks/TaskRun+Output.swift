// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage
internal import PintleSerialization

/// Receives the response that is a task's result.
extension TaskRun {
    /// Lets the hook decide, then moves the body to its destination.
    func take(
        _ answer: Answer, of task: SessionTask, _ session: Session
    ) async throws(SessionError) -> TaskResult {
        let decoding = try session.decoding(of: answer.head, to: answer.request)
        let head = decoding == nil ? answer.head : answer.head.withoutCodings()
        task.update {
            $0.response = head
            $0.responseVersion = answer.flow.metrics.httpVersion
        }
        try await self.obeyDisposition(of: head, task, session)
        let codings = decoding?.codings ?? []
        let arrival = Arrival(
            head: head, length: decoding == nil ? answer.length : nil, contentCodings: codings,
            flow: answer.flow, body: IncomingBody(answer.flow, decoding: decoding), request: answer.request)
        var body = ByteBuffer()
        switch self.output {
        case .memory: body = try await self.collect(arrival, of: task, session)
        case .stream(let handoff): try await self.hand(arrival, to: handoff, of: task, session)
        case .file(_, let contract, _): try await self.write(arrival, contract, of: task, session)
        case .webSocket(let opening): try await self.open(arrival, opening, of: task, session)
        }
        self.noteMetrics(of: answer, task)
        return TaskResult(
            response: head, url: answer.request.url, body: body, file: self.file?.path, metrics: task.metrics,
            contentCodings: codings)
    }

    /// Reads the rest of a response that is not the task's result.
    func discardRest(of answer: Answer, _ task: SessionTask) async {
        await answer.flow.discardRest()
        self.noteMetrics(of: answer, task)
    }

    /// Cancels a response whose rest is not read: otherwise its transfer would wait for a reader for ever.
    func giveUp(_ answer: Answer, with error: SessionError, _ task: SessionTask) {
        answer.flow.cancel(with: error)
        self.noteMetrics(of: answer, task)
    }

    private func noteMetrics(of answer: Answer, _ task: SessionTask) {
        // A response of the cache took no transfer.
        guard !answer.isCached else { return }
        task.update { $0.metrics.transactions.append(answer.flow.metrics) }
    }

    /// A response whose body is about to be read.
    struct Arrival {
        let head: ResponseHead
        let length: UInt64?
        let contentCodings: [String]
        let flow: TransferFlow
        let body: IncomingBody
        let request: SessionRequest
    }

    private func obeyDisposition(
        of head: ResponseHead, _ task: SessionTask, _ session: Session
    ) async throws(SessionError) {
        // Without a hook each response goes where the request wants it.
        guard let receivedResponse = session.hooks.receivedResponse else { return }
        switch try await self.ask({ try await receivedResponse(task, head) }) {
        case .allow: return
        case .cancel: throw .cancelled
        case .becomeDownload(let destination):
            guard case .memory = self.output else {
                throw SessionError(.hookFailed, "only a task that keeps its response in memory can become a download")
            }
            self.output = .file(destination, ResponseContract(acceptableStatusCodes: nil), resuming: nil)
            let path = destination.partPath(in: session.configuration.temporaryFolder)
            let original = task.originalRequest
            self.file = try await DownloadFile.open(path, of: original.isResumable ? original.url.description : nil)
            task.update { $0.kind = .download }
            session.hooks.becameDownload?(task)
        }
    }

    // MARK: Memory

    private func collect(
        _ arrival: Arrival, of task: SessionTask, _ session: Session
    ) async throws(SessionError) -> ByteBuffer {
        let limit = session.configuration.bodyLimit
        task.progress {
            $0.received = 0
            $0.expectedToReceive = arrival.length
        }
        var body = ByteBuffer()
        while let piece = try await arrival.body.next() {
            guard body.readableBytes + piece.readableBytes <= limit else {
                throw SessionError(
                    .tooLarge,
                    "the body is longer than \(limit) bytes; raise bodyLimit, download it, or read it as a stream")
            }
            if body.readableBytes == 0 { body = piece } else { body.writeImmutableBuffer(piece) }
            task.progress { $0.received += UInt64(piece.readableBytes) }
            session.hooks.receivedBody?(task, piece)
        }
        return body
    }

    // MARK: Stream

    private func hand(
        _ arrival: Arrival, to handoff: ResponseHandoff, of task: SessionTask, _ session: Session
    ) async throws(SessionError) {
        task.progress { $0.expectedToReceive = arrival.length }
        handoff.begin(arrival.head, length: arrival.length, contentCodings: arrival.contentCodings, task) {
            self.onLoop { $0.wake() }
        }
        while true {
            let pieces = try await arrival.body.nextPieces()
            if pieces.isEmpty { return }
            for piece in pieces {
                task.progress { $0.received += UInt64(piece.readableBytes) }
                session.hooks.receivedBody?(task, piece)
            }
            handoff.yield(pieces)
            try await self.wait { handoff.hasDemand }
        }
    }

    // MARK: File

    private func write(
        _ arrival: Arrival, _ contract: ResponseContract, of task: SessionTask, _ session: Session
    ) async throws(SessionError) {
        guard let file = self.file else { preconditionFailure("BUG: a download has no file") }
        if let violation = contract.validateHead(arrival.head, requestMethod: arrival.request.method) {
            throw try await self.rejection(of: arrival, violation)
        }
        let rest = try self.rest(in: arrival)
        let (offset, length) = (rest?.lowerBound ?? 0, rest?.upperBound ?? arrival.length)
        try await file.begin(arrival.head, length: length, at: offset, isDecoded: !arrival.contentCodings.isEmpty)
        let progress = task.progress {
            $0.received = offset
            $0.expectedToReceive = length
        }
        if offset > 0 { session.hooks.resumedDownload?(task, offset, progress) }
        while true {
            let pieces = try await arrival.body.nextPieces()
            if pieces.isEmpty { break }
            try await file.write(pieces)
            for piece in pieces {
                let progress = task.progress { $0.received += UInt64(piece.readableBytes) }
                session.hooks.wroteDownload?(task, piece.readableBytes, progress)
            }
        }
        let peer = arrival.request.url.authority
        if let rest, let error = SessionError.wrongRest(of: peer, upTo: rest.upperBound, file.offset) {
            if error.code != .truncated { file.forget() }
            throw error
        }
        // No rule concerns the body.
        guard contract.bodyNeed(for: arrival.head, requestMethod: arrival.request.method) != .nothing else { return }
        let body = try await file.contents(upTo: session.configuration.bodyLimit)
        do throws(ValidationError) {
            _ = try contract.validate(head: arrival.head, body: body, requestMethod: arrival.request.method)
        } catch {
            file.forget()
            let start = Array(body.prefix(RejectedResponse.bodyLimit))
            throw .rejected(RejectedResponse(head: arrival.head, body: start, violation: error))
        }
    }

    /// Returns the missing bytes, if the response brings just those; nil if it brings the whole body.
    private func rest(in arrival: Arrival) throws(SessionError) -> Range<UInt64>? {
        if let rest = self.leftOver?.rest(from: arrival.head) { return rest }
        guard arrival.head.status != 206 || arrival.request.fields.contains("Range") else {
            throw SessionError(
                .malformedResponse, "\(arrival.request.url.authority) was asked for the whole and sent a part (206)")
        }
        return nil
    }

    /// Returns the error for an unacceptable response, with the beginning of its body.
    func rejection(of arrival: Arrival, _ violation: ValidationError) async throws(SessionError) -> SessionError {
        var body: [UInt8] = []
        while body.count < RejectedResponse.bodyLimit, let piece = try await arrival.body.next() {
            body += piece.readableBytesView.prefix(RejectedResponse.bodyLimit - body.count)
        }
        return .rejected(RejectedResponse(head: arrival.head, body: body, violation: violation))
    }
}
