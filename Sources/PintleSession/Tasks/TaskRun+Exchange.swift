// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage
internal import PintleSerialization
internal import PintleTrust

/// One request and the head of its response.
extension TaskRun {
    /// The head of a response, and the flow that has its body.
    struct Answer {
        let head: ResponseHead
        let length: UInt64?
        let flow: TransferFlow
        let request: SessionRequest
        /// True if the response came from the cache.
        var isCached = false
    }

    /// Makes the request of `attempts` and waits for the head of the response.
    ///
    /// - Returns: nil if the request must be made again with a new body, because its connection broke.
    func exchange(
        _ attempts: inout TaskAttempts, of task: SessionTask, _ session: Session
    ) async throws(SessionError) -> Answer? {
        var body = try await self.outgoingBody(&attempts, of: task, session)
        let local = try await self.localResponse(to: &body, attempts, of: task, session)
        // The cache and the hooks above may have taken a while; the task may have been suspended meanwhile.
        try await self.wait { !self.isSuspended }
        self.question?.time = .now
        let flow = TransferFlow(loop: self.loop) { [notice = session.hooks.sentBody] count, total in
            let progress = task.progress { $0.sent = UInt64(total) }
            notice?(task, count, progress)
        }
        self.flow = flow
        task.progress {
            $0.sent = 0
            $0.expectedToSend = body.length
        }
        if let local {
            flow.originTookBody(Int(clamping: body.length ?? 0))
            flow.isFed(
                by: Task { [request = attempts.request] in await self.play(local, answering: request, into: flow) })
        } else {
            let request = self.question?.conditionalRequest ?? session.withCookies(attempts.request)
            var transfer = session.transferRequest(request, body: body)
            transfer.owner = self.connectionOwner
            if case .webSocket(let opening) = self.output { opening.prepare(&transfer) }
            flow.start(transfer, in: session)
        }
        if local == nil, case .pieces(let reader, let length) = body {
            let throttle = attempts.request.throttle
            flow.isFed(by: Task { await self.feed(reader, length: length, throttle: throttle, into: flow) })
        }
        attempts.resendsBody = attempts.source != nil
        do throws(SessionError) {
            let (head, length) = try await flow.response()
            session.cookieJar?.take(head.fields, from: attempts.request.url)
            return Answer(
                head: session.withoutBlockedCookies(head), length: length, flow: flow, request: attempts.request)
        } catch {
            task.update { $0.metrics.transactions.append(flow.metrics) }
            // A transfer itself sends a request again if a kept connection turns out to be dead, unless it cannot read
            // the body again. That can be done here.
            let isStale = error.code == .connectionBroken && flow.metrics.reusedConnection
            guard error.code == .cannotRewind || isStale, attempts.retries == 0, self.failure == nil else {
                throw error
            }
            attempts.retries += 1
            return nil
        }
    }

    // MARK: The body

    /// Prepares the body of the request, for the first time or again.
    private func outgoingBody(
        _ attempts: inout TaskAttempts, of task: SessionTask, _ session: Session
    ) async throws(SessionError) -> OutgoingBody {
        if attempts.source == nil, task.kind == .upload, !attempts.resendsBody {
            attempts.source = try await self.bodyFromHook(of: task, session)
        } else if case .stream(let stream) = attempts.source, attempts.resendsBody {
            if let source = try await self.bodyFromHook(of: task, session) {
                attempts.source = source
            } else if !stream.isReplayable {
                throw SessionError(
                    .cannotRewind,
                    "the body has to be sent again and its stream is used up; make it of a sequence that can be made "
                        + "again, or set the hook needsBody")
            }
        }
        guard let source = attempts.source else { return .none }
        return try await OutgoingBody.open(source, for: &attempts.request)
    }

    private func bodyFromHook(
        of task: SessionTask, _ session: Session
    ) async throws(SessionError) -> UploadSource? {
        guard let needsBody = session.hooks.needsBody else { return nil }
        return try await self.ask { try await needsBody(task) }
    }

    /// Moves a body from its reader into the transfer, no faster than the transfer takes it.
    private func feed(
        _ reader: any UploadReader, length: UInt64?, throttle: Throttle?, into flow: TransferFlow
    ) async {
        do throws(SessionError) {
            var sent: UInt64 = 0
            while var piece = try await reader.next() {
                sent += UInt64(piece.readableBytes)
                if let length, sent > length { throw .wrongLength("more", length) }
                while let packet = piece.readSlice(length: min(throttle?.packet ?? .max, piece.readableBytes)),
                    packet.readableBytes > 0
                {
                    // The transfer is over, and its error reaches the reader.
                    guard await flow.hasRoom() else { return }
                    flow.send(packet)
                    if let throttle { await flow.rest(for: TimeAmount(limit: throttle.delay)) }
                }
            }
            if let length, sent < length { throw .wrongLength("only \(sent)", length) }
            flow.finishBody()
        } catch {
            flow.cancel(with: error)
        }
    }
}

extension SessionError {
    fileprivate static func wrongLength(_ what: String, _ length: UInt64) -> SessionError {
        SessionError(.unreadableSource, "the body was to have \(length) bytes, and has \(what)")
    }
}

/// A body that is ready to be sent once.
enum OutgoingBody {
    case none
    /// Bytes that the transfer itself can send again.
    case bytes(ByteBuffer)
    case pieces(any UploadReader, length: UInt64?)

    var length: UInt64? {
        switch self {
        case .none: nil
        case .bytes(let bytes): UInt64(bytes.readableBytes)
        case .pieces(_, let length): length
        }
    }

    /// Opens `source`, and sets the fields that depend on it.
    ///
    /// - Throws: ``SessionError`` with `unreadableSource`, or with `invalidRequest` for HEAD, which has no body.
    static func open(_ source: UploadSource, for request: inout SessionRequest) async throws(SessionError) -> Self {
        guard request.method != "HEAD" else {
            throw SessionError(.invalidRequest, "HEAD has no body; send it by another method")
        }
        switch source {
        case .bytes(let bytes):
            guard request.throttle != nil else { return .bytes(bytes) }
            return .pieces(BytesReader(bytes), length: UInt64(bytes.readableBytes))
        case .file(let path):
            let reader = try await FileReader.open(path)
            return .pieces(reader, length: reader.length)
        case .stream(let stream):
            guard let reader = stream.open() else {
                throw SessionError(.unreadableSource, "the stream of the body was read by an earlier task")
            }
            return .pieces(reader, length: stream.length ?? request.declaredLength)
        case .multipart(let form):
            if !request.fields.contains(.contentType) { request.fields.append("Content-Type", form.contentType) }
            return .pieces(FormUploadReader(form), length: form.contentLength)
        }
    }
}

extension SessionRequest {
    /// The length that a Content-Length field gives to a stream of unknown length.
    fileprivate var declaredLength: UInt64? { self.fields[.contentLength].flatMap { UInt64($0) } }
}

extension Session {
    /// Returns `request` with the cookies that the session adds, or without those that it blocks.
    func withCookies(_ request: SessionRequest) -> SessionRequest {
        var request = request
        if self.configuration.cookies == .block { request.fields.remove(.cookie) }
        if let cookies = self.cookieJar?.header(for: request.url) {
            // Joined into one field, as not every server reads a second one (RFC 6265 §5.4).
            request.fields.set("Cookie", (request.fields.values(of: "Cookie") + [cookies]).joined(separator: "; "))
        }
        return request
    }

    /// Returns the transfer's form of `request`, which already has its cookies.
    func transferRequest(_ request: SessionRequest, body: OutgoingBody) -> TransferRequest {
        var fields = request.fields
        fields.remove(.contentLength)
        let transferBody: TransferRequest.Body =
            switch body {
            // Methods that usually have a body declare that it is empty (RFC 9110 §8.6).
            case .none: ["POST", "PUT", "PATCH"].contains(request.method) ? .bytes(ByteBuffer()) : .none
            case .bytes(let bytes): .bytes(bytes)
            case .pieces(_, let length): .stream(length: length)
            }
        var transfer = TransferRequest(
            method: request.method, scheme: request.url.scheme, authority: request.url.authority,
            path: request.url.path, fields: fields, body: transferBody,
            connectTimeout: TimeAmount(limit: request.connectTimeout ?? self.configuration.connectTimeout),
            timeout: TimeAmount(limit: request.timeout ?? self.configuration.timeout))
        transfer.serviceType = request.serviceType
        return transfer
    }

    /// Returns `request` with the fields that all requests of the session have in common.
    ///
    /// - Throws: ``SessionError`` if it must not be sent.
    func completed(_ request: SessionRequest) throws(SessionError) -> SessionRequest {
        let own = request.fields
        var request = request
        for (name, value) in self.configuration.additionalFields.pairs where !own.contains(name) {
            request.fields.append(name, value)
        }
        try request.checkSyntax()
        try self.checkSecrecy(of: request.url)
        return request
    }

    /// Checks that a policy that pins is not bypassed: without TLS there is no certificate.
    ///
    /// - Throws: ``SessionError`` with `cleartext` for http under a policy that pins.
    func checkSecrecy(of url: HTTPURL) throws(SessionError) {
        if self.policy.pinning == .none || url.isSecure { return }
        throw SessionError(
            .cleartext, "\(url.authority) would be asked in clear text, and the session's policy pins; use https")
    }

    /// Returns the proxy that forwards requests for `url`, and so may demand credentials; nil if they go directly, or
    /// through a tunnel. A 407 from inside a tunnel is the origin's, and must not get the proxy's credentials.
    func forwarder(of url: HTTPURL) -> Authority? {
        guard let proxy = self.configuration.proxy, proxy.forwards, !url.isSecure, proxy.serves(url.authority) else {
            return nil
        }
        return proxy.authority
    }

    func withoutBlockedCookies(_ head: ResponseHead) -> ResponseHead {
        guard self.configuration.cookies == .block, head.fields.contains(.setCookie) else { return head }
        var head = head
        head.fields.remove(.setCookie)
        return head
    }
}
