// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage
internal import PintleSerialization
internal import PintleSystem

/// The file of a download, before the first request and after the last byte.
extension TaskRun {
    /// Opens the file in which the download grows, and requests only the bytes that an earlier download has not got.
    func prepareFile(
        for request: inout SessionRequest, of task: SessionTask, _ session: Session
    ) async throws(SessionError) {
        // The other outputs have no file.
        guard case .file(let destination, let contract, let given) = self.output else { return }
        guard !contract.body.replacesBodies else {
            throw SessionError(.invalidRequest, "a download is written as it comes, so removesNulls cannot be obeyed")
        }
        guard given == nil || request.isResumable else {
            throw SessionError(.invalidRequest, "a download that goes on writes Range itself; leave it out")
        }
        let url = request.url.description
        let place =
            given.map { PartPlace(path: $0.file, kind: .kept) }
            ?? destination.partPath(in: session.configuration.temporaryFolder)
        let file = try await DownloadFile.open(place, of: request.isResumable ? url : nil)
        self.file = file
        // The download begins anew, whatever is left of an earlier one.
        guard given != nil || destination.resumes, request.isResumable else { return }
        guard let left = try await file.findLeftOver(given) else {
            guard given == nil else {
                throw SessionError(.cannotWrite, "\(place.path) is not the partial download that it was")
            }
            return
        }
        self.leftOver = left
        request.fields.set("Range", "bytes=\(left.offset)-")
        request.fields.set("If-Range", left.validator)
    }

    /// True if a later task could continue the response to the request.
    func isResumable(_ request: SessionRequest) -> Bool {
        guard case .file(let destination, _, let given) = self.output else { return false }
        return request.isResumable && (given != nil || destination.resumes)
    }

    /// Returns true if a resumed download must begin at zero, because the server has another file now. A server that
    /// sends the whole file at once needs no second request.
    func mustBeginAgain(after head: ResponseHead, _ request: inout SessionRequest, _ session: Session) -> Bool {
        guard let left = self.leftOver else { return false }
        // A part of an encoded body does not continue bytes that were decoded, or never encoded.
        let isRest = left.rest(from: head) != nil && !session.isCoded(head, to: request)
        guard head.status == 416 || head.status == 206 && !isRest else { return false }
        self.leftOver = nil
        request.fields.remove("Range")
        request.fields.remove("If-Range")
        return true
    }

    /// Moves a complete download to its destination, or offers a response to the cache.
    func finished(
        _ result: TaskResult, of task: SessionTask, _ session: Session
    ) async throws(SessionError) -> TaskResult {
        guard case .file(let destination, _, _) = self.output, let file = self.file else {
            try await self.offerToCache(result, of: task, session)
            return result
        }
        guard result.response.status != 304 else {
            // No bytes have come that could replace the file that the caller has (RFC 9110 §15.4.5).
            _ = await file.abandon(keeping: false)
            return TaskResult(
                response: result.response, url: result.url, body: result.body, file: nil, metrics: result.metrics,
                contentCodings: result.contentCodings)
        }
        let place = try await self.place(of: file.path, destination, result.response, task, session)
        guard let place else {
            await file.settle()
            return result
        }
        do throws(SessionError) {
            try await file.move(to: place, replacing: destination.replacesExisting)
        } catch {
            session.events.post(.downloadMoveFailed(task, from: file.path, to: place, error))
            throw error
        }
        session.events.post(.downloadMoved(task, to: place))
        return TaskResult(
            response: result.response, url: result.url, body: result.body, file: place, metrics: result.metrics,
            contentCodings: result.contentCodings)
    }

    /// Returns the final path of a download; the hook takes precedence over the task's own destination.
    private func place(
        of temporaryFile: String, _ destination: DownloadDestination, _ head: ResponseHead, _ task: SessionTask,
        _ session: Session
    ) async throws(SessionError) -> String? {
        if let finishedDownload = session.hooks.finishedDownload {
            let place = try await self.ask { try await finishedDownload(task, temporaryFile, head) }
            if let place { return place }
        }
        switch destination.place {
        case .file(let path): return path
        case .chosen(let choice): return try await self.ask { try await choice(temporaryFile, head) }
        }
    }

    /// Keeps the usable part of a failed download.
    func abandonFile(of task: SessionTask, after failure: SessionError) async {
        // Nothing was written.
        guard let file = self.file, case .file(let destination, _, let given) = self.output else { return }
        let isNamed = if case .file = destination.place { true } else { given != nil }
        let isKept = failure.code == .cancelled ? self.keepsPart || destination.resumes : isNamed
        let left = await file.abandon(keeping: isKept || self.keepsPart)
        task.update { $0.partialDownload = left }
    }
}

extension SessionRequest {
    /// True if the missing rest of a response can be requested later; false if the caller itself requests a range.
    package var isResumable: Bool { self.method == "GET" && !self.fields.contains("Range") }
}
