// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage
internal import PintleSerialization
internal import PintleSession
internal import PintleSystem

/// Writes a response's body to standard output: as it arrives, or after it has been checked.
struct ResponseWriter {
    let plan: FetchPlan

    func fetch(
        _ target: FetchPlan.Target, in session: Session, sending source: UploadSource?
    ) async -> FetchOutcome {
        var task: SessionTask?
        do {
            let response = try await session.stream(target.request, from: source)
            task = response.task
            // Cancellation must not wait until standard output accepts the bytes.
            let failure = try await withTaskCancellationHandler {
                try await self.take(response, session.configuration.bodyLimit)
            } onCancel: {
                response.task.cancel()
            }
            return FetchOutcome(target, task, failure: failure)
        } catch let error as SessionError {
            return FetchOutcome(target, task, failure: FetchFailure(error))
        } catch let failure as FetchFailure {
            return FetchOutcome(target, task, failure: failure)
        } catch {
            // Other errors come from the body, if its reader was cancelled.
            return FetchOutcome(target, task, failure: .interrupted)
        }
    }

    /// Writes the body.
    ///
    /// - Returns: the failure of a response that was written nevertheless.
    private func take(_ response: SessionResponse, _ limit: Int) async throws -> FetchFailure? {
        let method = response.task.currentRequest.method
        if let violation = self.plan.contract.validateHead(response.head, requestMethod: method) {
            let failure = FetchFailure(violation)
            guard !self.plan.hasExpectations else { throw failure }
            // The body of an error response usually explains the error.
            try await self.write(response)
            return failure
        }
        switch self.plan.contract.bodyNeed(for: response.head, requestMethod: method) {
        case .nothing: try await self.write(response)
        case .firstByte: try await self.write(response) { try self.check($0, response.head, method) }
        case .whole:
            let body = try await response.body.collect(upTo: limit)
            try self.check(body, response.head, method)
            try await self.writeHead(of: response)
            try await StandardOutput.write(body)
        }
        // The body ends before the task does; only then are the task's metrics complete.
        _ = try await response.task.value()
        return nil
    }

    /// - Parameter check: receives the first piece; an empty one if the body is empty.
    private func write(
        _ response: SessionResponse, checkingFirst check: ((ByteBuffer) throws -> Void)? = nil
    ) async throws {
        // Without a check the head need not wait for the body, which may come much later.
        if check == nil { try await self.writeHead(of: response) }
        var pieces = response.body.makeAsyncIterator()
        var piece = try await pieces.next()
        if let check {
            try check(piece ?? ByteBuffer())
            try await self.writeHead(of: response)
        }
        while let bytes = piece {
            try await StandardOutput.write(bytes)
            piece = try await pieces.next()
        }
        try Task.checkCancellation()
    }

    /// Writes the head of the response if it is wanted. Characters in it that control terminals are escaped, as everywhere.
    private func writeHead(of response: SessionResponse) async throws(FetchFailure) {
        guard self.plan.includesHead else { return }
        let version = response.task.responseVersion
        let reason = response.head.reason.isEmpty ? "" : " \(response.head.reason)"
        let lines =
            ["HTTP/\(version) \(response.head.status)\(reason)"]
            + response.head.fields.pairs.map { "\($0.name): \($0.value)" } + [""]
        let text = lines.map { $0.showable(keepingLines: false) + "\r\n" }.joined()
        try await StandardOutput.write(ByteBuffer(string: text))
    }

    private func check(_ body: ByteBuffer, _ head: ResponseHead, _ method: String) throws {
        do throws(ValidationError) {
            _ = try self.plan.contract.validate(head: head, body: Array(body.readableBytesView), requestMethod: method)
        } catch {
            throw FetchFailure(error)
        }
    }
}

extension FetchFailure {
    fileprivate init(_ violation: ValidationError) {
        self.init(exit: .found, code: SessionError.Code.rejected.rawValue, message: violation.description)
    }
}
