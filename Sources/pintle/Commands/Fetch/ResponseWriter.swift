// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage
internal import PintleSerialization
internal import PintleSession

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
            try await self.write(response.body)
            return failure
        }
        switch self.plan.contract.bodyNeed(for: response.head, requestMethod: method) {
        case .nothing: try await self.write(response.body)
        case .firstByte: try await self.write(response.body) { try self.check($0, response.head, method) }
        case .whole:
            let body = try await response.body.collect(upTo: limit)
            try self.check(body, response.head, method)
            try await StandardOutput.write(body)
        }
        // The body ends before the task does; only then are the task's metrics complete.
        _ = try await response.task.value()
        return nil
    }

    /// - Parameter check: receives the first piece; an empty one if the body is empty.
    private func write(_ body: ResponseBody, checkingFirst check: (ByteBuffer) throws -> Void = { _ in }) async throws {
        var pieces = body.makeAsyncIterator()
        var piece = try await pieces.next()
        try check(piece ?? ByteBuffer())
        while let bytes = piece {
            try await StandardOutput.write(bytes)
            piece = try await pieces.next()
        }
        try Task.checkCancellation()
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
