// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage
internal import PintleSerialization
internal import PintleSession
internal import PintleSystem

/// Fetches the response, in one stretch or several. Only one of the stretches works at a time.
extension TransferOperation {
    /// The facts from which the rest of a body is requested.
    private struct LeftOver {
        let offset: UInt64
        let validator: String
        let length: UInt64?

        func rest(from head: ResponseHead) -> Range<UInt64>? {
            head.rest(from: self.offset, validator: self.validator, length: self.length)
        }
    }

    func carryOut(_ stretch: Int) async {
        let outcome = await Result { () async throws(SessionError) -> TaskResult in try await self.bring(stretch) }
        let isOurs = self.status.withLock { status in
            if status.stretch == stretch { status.isEnding = true }
            return status.isEnding
        }
        // If the stretch is over, the operation was paused or cancelled meanwhile.
        if isOurs { await self.finish(outcome) }
    }

    private func bring(_ stretch: Int) async throws(SessionError) -> TaskResult {
        if let failure = self.status.withLock({ $0.outputFailure }) { throw failure }
        while true {
            let left = self.leftOver
            var request = self.request
            // If a pause cut off an encoded body, its rest could not be requested.
            self.session.askForCodings(in: &request, isResumable: request.isResumable)
            if let left {
                request.fields.set("Range", "bytes=\(left.offset)-")
                request.fields.set("If-Range", left.validator)
            }
            if let result = try await self.exchange(request, for: left, stretch) { return result }
            // The server has a different body now, so the whole is requested.
            self.status.withLock { $0.held?.validator = nil }
        }
    }

    private var leftOver: LeftOver? {
        self.status.withLock { status in
            guard status.progress.received > 0, let held = status.held, let validator = held.validator else {
                return nil
            }
            return LeftOver(offset: status.progress.received, validator: validator, length: held.length)
        }
    }

    /// Makes one request and processes its response.
    ///
    /// - Returns: nil if the response is neither the rest nor a whole one.
    private func exchange(
        _ request: SessionRequest, for left: LeftOver?, _ stretch: Int
    ) async throws(SessionError) -> TaskResult? {
        let handoff = ResponseHandoff()
        let task = try self.session.makeTask(
            request, from: self.source, handingTo: handoff, interception: self.interception)
        self.status.withLock { if $0.stretch == stretch { $0.task = task } else { task.cancel() } }
        let sending = self.source == nil ? nil : Task { await self.noteSending(of: task) }
        task.resume()
        let taken = await Result { () async throws(SessionError) -> Bool in
            try await self.take(handoff.response(), for: left, stretch)
        }
        if case .success(true) = taken {} else { task.cancel() }
        let ended = await Result { () async throws(SessionError) -> TaskResult in try await task.end() }
        await sending?.value
        self.status.withLock { status in
            status.metrics.transactions += task.metrics.transactions
            status.metrics.redirectCount += task.metrics.redirectCount
        }
        guard try taken.get() else { return nil }
        return await self.result(of: try ended.get())
    }

    private func result(of task: TaskResult) async -> TaskResult {
        let metrics = self.status.withLock { $0.metrics }
        let file: String? = if case .file(let path) = self.output { path } else { nil }
        let body = await (self.sink as? MemorySink)?.bytes ?? ByteBuffer()
        return TaskResult(
            response: task.response, url: task.url, body: body, file: file, metrics: metrics,
            contentCodings: task.contentCodings)
    }

    private func noteSending(of task: SessionTask) async {
        for await step in task.progressStream {
            self.progress { ($0.sent, $0.expectedToSend) = (step.sent, step.expectedToSend) }
        }
    }

    // MARK: The response

    /// Processes a response.
    ///
    /// - Returns: false if the response is neither the rest nor a whole one.
    private func take(
        _ response: SessionResponse, for left: LeftOver?, _ stretch: Int
    ) async throws(SessionError) -> Bool {
        let head = response.head
        try self.checkStretch(stretch)
        let rest = self.session.isCoded(head, to: self.request) ? nil : left?.rest(from: head)
        if rest != nil {
            self.status.withLock { $0.held?.head = head }
        } else {
            if left != nil, head.status == 206 || head.status == 416 { return false }
            try await self.checkReplacement(by: response, for: left)
            try await self.beginBody(of: response)
        }
        do {
            for try await piece in response.body {
                try await self.put(piece)
                try self.checkStretch(stretch)
            }
        } catch {
            throw .wrapping(error, as: .internalError, "the body of the response failed")
        }
        let (peer, count) = (self.request.url.authority, self.progress.received)
        if let rest, let error = SessionError.wrongRest(of: peer, upTo: rest.upperBound, count) { throw error }
        return true
    }

    /// Checks that a response may replace the one that the output has.
    ///
    /// - Throws: `SessionError` with `rejected` if an error, or a part, would replace a good response, which then
    ///   stays; with `malformedResponse` for a part (206) instead of the whole.
    private func checkReplacement(by response: SessionResponse, for left: LeftOver?) async throws(SessionError) {
        let head = response.head
        guard head.status != 206 || self.request.fields.contains("Range") else {
            throw SessionError(
                .malformedResponse, "\(self.request.url.authority) was asked for the whole and sent a part (206)")
        }
        let (held, count) = self.status.withLock { ($0.held?.head.status, $0.progress.received) }
        // There is no good response that would be lost.
        guard let held, 200..<300 ~= held, count > 0 else { return }
        let contract = ResponseContract(acceptableStatusCodes: left == nil ? [200...299] : [200...200])
        // The new response is as good.
        guard let violation = contract.validateHead(head, requestMethod: self.request.method) else { return }
        var body: [UInt8] = []
        do {
            for try await piece in response.body {
                body += piece.readableBytesView.prefix(RejectedResponse.bodyLimit - body.count)
                if body.count == RejectedResponse.bodyLimit { break }
            }
        } catch {
            // The message has the part of the error's text that has arrived.
        }
        throw .rejected(RejectedResponse(head: head, body: body, violation: violation))
    }

    private func beginBody(of response: SessionResponse) async throws(SessionError) {
        let head = response.head
        var isOwnSink = true
        if case .sink = self.output { isOwnSink = false }
        // A caller's sink needs no `restart` as long as it has no bytes to drop.
        if isOwnSink || self.progress.received > 0 {
            try await self.tellSink { sink in try await sink.restart() }
        }
        // A caller that asks for a range gets just that range, never the rest of it by another request.
        let isAsSent = response.contentCodings.isEmpty
        let isWhole =
            isAsSent && head.status == 200 && self.request.method == "GET" && !self.request.fields.contains("Range")
        let validator = isWhole ? RangeValidator.value(for: head.fields) : nil
        self.status.withLock {
            $0.held = Status.Held(head: head, length: response.length, validator: validator)
        }
        self.progress { ($0.received, $0.expectedToReceive) = (0, response.length) }
    }

    private func put(_ piece: ByteBuffer) async throws(SessionError) {
        try await self.tellSink { sink in try await sink.write(piece) }
        self.progress { $0.received += UInt64(piece.readableBytes) }
    }

    private func tellSink(_ work: (any BodySink) async throws -> Void) async throws(SessionError) {
        do {
            try await work(self.sink)
        } catch {
            let failure = self.outputFailure(error)
            self.status.withLock { $0.outputFailure = failure }
            throw failure
        }
    }

    /// Wraps an error of the output. A caller's own error is always kept as `underlying`.
    func outputFailure(_ error: any Error) -> SessionError {
        let what = "the output of the operation failed"
        if case .sink = self.output { return SessionError(.cannotWrite, "\(what): \(error)", underlying: error) }
        return .wrapping(error, as: .cannotWrite, what)
    }

    private func checkStretch(_ stretch: Int) throws(SessionError) {
        guard self.status.withLock({ $0.stretch }) == stretch else { throw .cancelled }
    }
}
