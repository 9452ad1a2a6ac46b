// SPDX-License-Identifier: Apache-2.0

package import NIOCore
package import PintleMessage
package import PintleSerialization
package import PintleSession

/// A request as it goes upstream, made by a ``RequestPlan``.
package struct PlannedRequest: Sendable {
    /// A breach that is only reported: the request is sent nevertheless.
    package struct Breach: Sendable {
        package let kind: Problem.Name
        /// A sentence for the log.
        package let reason: String
    }

    /// The request, without the way that it takes and the client that it is made for.
    package var transfer: TransferRequest
    /// The beginning of a streamed body: all of it, or the part that was collected before it proved too long.
    package var content = ByteBuffer()
    /// True if ``content`` is the whole body.
    package var isWhole = false
    /// The trailers of a body that is complete.
    package var trailers = Fields()
    /// The protocols that the origin may switch to.
    package var offer: UpgradeOffer?
    /// The rules for the response; nil if it may be anything.
    package var judge: ResponseValidator?
    /// The breaches that are only reported.
    package var breaches: [Breach] = []

    /// True if no breach is reported, no upgrade is offered and the response may be anything.
    package var isPlain: Bool { self.judge == nil && self.offer == nil && self.breaches.isEmpty }

    /// Moves the request out: a copy would retain each of its parts.
    package mutating func takeTransfer() -> TransferRequest {
        var taken = TransferRequest.none
        swap(&taken, &self.transfer)
        return taken
    }

    /// The number of bytes of the body if it is complete, else zero.
    package var wholeBytes: Int {
        if case .bytes(let bytes) = self.transfer.body { return bytes.readableBytes }
        return self.isWhole ? self.content.readableBytes : 0
    }
}

extension RequestPlan {
    /// The body of a request, as far as it is known when the request is made.
    package enum Body: Sendable {
        /// The body is streamed as it arrives; also if there is none.
        case streamed
        /// The body is complete.
        case whole(ByteBuffer, trailers: Fields)
        /// The body is too long to be held, so it is not judged: its beginning has arrived, and the rest is streamed. The
        /// reason is a sentence for the log.
        case unbuffered(beginning: ByteBuffer, reason: String)
    }

    /// Makes the request.
    ///
    /// - Parameters:
    ///   - received: the head of the request; its fields are moved.
    ///   - client: the client that has sent it.
    ///   - shortage: the reason why there is no memory to judge the request; nil if there is enough.
    ///   - budget: the work for serializing and judging. If steps or time interrupt it, the result says so; a caller that only
    ///     tries with a small budget discards that result. Default nil: no limit.
    /// - Throws: the problem that the client gets instead.
    package func request(
        from received: consuming RequestHead, _ body: Body, of client: RequestClient, shortage: String? = nil,
        within budget: WorkBudget? = nil
    ) throws(Problem) -> PlannedRequest {
        guard let decision else { preconditionFailure("BUG: a request is made that was refused before it was planned") }
        let hasEmptyBody = self.framing == .none && received.fields.contains(.contentLength)
        let offer = self.isSerialized ? nil : UpgradeOffer(received.fields, minorVersion: received.minorVersion)
        let takesTrailers = received.fields.hasToken("trailers", in: .te)
        let host = received.fields[.host]
        var head = (consume received).forwarded(by: decision, via: self.policy.configuration.via)
        if self.tellsClient { self.tell(client, host: host, in: &head.fields) }
        var content: TransferRequest.Body
        var operation = self.operation
        var made = PlannedRequest(transfer: TransferRequest(decision))
        made.transfer.takesTrailers = takesTrailers
        if let undeclared { made.breaches.append(.init(kind: .unserializableRequest, reason: undeclared)) }
        switch body {
        case .streamed: content = self.streamedBody(isEmpty: hasEmptyBody)
        case .unbuffered(let beginning, let reason):
            content = self.streamedBody(isEmpty: hasEmptyBody)
            made.content = beginning
            if !self.collectsForRedirects { made.breaches.append(.init(kind: .bodyTooLarge, reason: reason)) }
            // A client that has sent a beginning was told to continue, so its Expect is met.
            if beginning.readableBytes > 0 { head.fields.remove(.expect) }
            operation = operation?.withoutRequestBody
        case .whole(let bytes, let trailers):
            // The body is here: the origin need not be asked first if it wants it.
            head.fields.remove(.expect)
            if self.isSerialized {
                if let shortage { throw Problem(.overloaded, shortage) }
                content = try self.serialize(&head, bytes, isDeclared: hasEmptyBody, within: budget ?? .unlimited)
            } else {
                content = bytes.readableBytes > 0 || self.framing != .none ? .bytes(bytes) : .none
                made.trailers = self.forwarded(trailers: trailers)
            }
            made.isWhole = true
        }
        if head.method == "HEAD" {
            guard content.isEmpty else {
                throw Problem(.badRequest, "a HEAD request with content is not forwarded")
            }
            content = .none
        }
        self.responseRewriter?.addresses?.apply(toRequest: &head.fields)
        self.rewriter?.apply(to: &head.fields)
        if let operation, operation.checksRequests {
            try self.judge(&made, head, content, operation, shortage: shortage, within: budget ?? .unlimited)
        }
        if let judge = self.validator(operation, method: head.method) {
            judge.prepare(&head.fields)
            made.judge = judge
        }
        self.fill(&made, consume head, content, hasOperation: operation != nil, offer)
        return made
    }

    /// Adds the fields about the client. The target of a request to a proxy takes precedence over its Host.
    private func tell(_ client: RequestClient, host: String?, in fields: inout Fields) {
        guard let query else { preconditionFailure("BUG: a request is made that was refused before it was planned") }
        let scheme = query.form == .proxy ? query.scheme : client.isSecure ? .https : .http
        let asked = query.authority.description(for: query.scheme)
        self.forwarding.apply(
            to: &fields, for: client, scheme: scheme, host: query.form == .proxy ? asked : host ?? asked)
    }

    /// Makes the request as ``request(from:_:of:shortage:within:)`` does.
    package func make(
        _ head: consuming RequestHead, _ body: Body, of client: RequestClient, shortage: String? = nil,
        within budget: WorkBudget? = nil
    ) -> Result<PlannedRequest, Problem> {
        do throws(Problem) {
            return .success(try self.request(from: consume head, body, of: client, shortage: shortage, within: budget))
        } catch {
            return .failure(error)
        }
    }

    private func streamedBody(isEmpty: Bool) -> TransferRequest.Body {
        switch self.framing {
        case .none, .untilClose: isEmpty ? .bytes(ByteBuffer()) : .none
        case .length(let length): .stream(length: length)
        case .chunked: .stream(length: nil)
        }
    }

    private func serialize(
        _ head: inout RequestHead, _ bytes: ByteBuffer, isDeclared: Bool, within budget: WorkBudget
    ) throws(Problem) -> TransferRequest.Body {
        guard let rewriter else { preconditionFailure("BUG: a request is serialized that has no route") }
        let limits = self.policy.configuration.limits
        let result = Result { () throws(SerializationError) in
            guard budget.reserve(bytes.readableBytes) else { throw RequestRewriter.interrupted }
            return try rewriter.serialize(
                head, body: Array(bytes.readableBytesView), limits: RequestRewriter.Limits(limits), within: budget)
        }
        switch budget.interruption {
        case nil: break
        case .memory, .cancelled: throw Problem(.overloaded, limits.memoryShortage)
        case .steps, .time:
            let reason = budget.interruption?.reason ?? ""
            throw Problem(.bodyTooLarge, "to be serialized it \(reason); send less at a time")
        }
        do throws(SerializationError) {
            let made = try result.get()
            head = made.head
            if let body = made.body { return .bytes(ByteBuffer(bytes: body)) }
            // An empty body is still a body: a server may refuse a POST without a length.
            let staysEmpty = bytes.readableBytes == 0 && (isDeclared || self.framing != .none)
            return staysEmpty ? .bytes(ByteBuffer()) : .none
        } catch {
            throw Problem(error)
        }
    }

    /// Checks a request against its contract, in the form in which it is sent.
    private func judge(
        _ made: inout PlannedRequest, _ head: RequestHead, _ content: TransferRequest.Body,
        _ operation: ContractedOperation, shortage: String?, within budget: WorkBudget
    ) throws(Problem) {
        let limits = self.policy.configuration.limits
        let rules = self.decision?.route?.configuration.request
        var violations: [String] = []
        switch content {
        case _ where shortage != nil: break
        case .bytes(let bytes):
            if budget.reserve(bytes.readableBytes) {
                violations = operation.violations(
                    of: head, body: Array(bytes.readableBytesView), hasBody: bytes.readableBytes > 0, rules: rules,
                    within: budget)
            }
        case .none, .stream:
            violations = operation.violations(
                of: head, body: nil, hasBody: content.isStreamed, rules: rules, within: budget)
        }
        var missing = shortage
        switch budget.interruption {
        case nil: break
        case .memory, .cancelled: missing = limits.memoryShortage
        case .steps, .time:
            violations = ["to be judged it \(budget.interruption?.reason ?? ""); send less at a time"]
        }
        if let missing {
            guard self.passesUnjudged else { throw Problem(.overloaded, missing) }
            // A body that is too long to be held was reported before.
            if !made.breaches.contains(where: { $0.kind == .bodyTooLarge }) {
                made.breaches.append(.init(kind: .bodyTooLarge, reason: missing))
            }
        } else if let first = violations.first {
            guard self.onViolation == .report else { throw Problem(breaking: violations) }
            made.breaches.append(.init(kind: .unserializableRequest, reason: first))
        }
    }

    /// The rules for the response to a request with this method; nil if it may be anything.
    package func responseValidator(method: String) -> ResponseValidator? {
        self.validator(self.operation, method: method)
    }

    private func validator(_ operation: ContractedOperation?, method: String) -> ResponseValidator? {
        let route = self.decision?.route
        let maxBody = route?.configuration.response.maxBody
        guard route?.contract != nil || maxBody != nil || operation != nil else { return nil }
        return ResponseValidator(
            route?.contract, operation, method: method, onViolation: self.onViolation, maxBody: maxBody)
    }

    private func fill(
        _ made: inout PlannedRequest, _ head: consuming RequestHead, _ content: TransferRequest.Body,
        hasOperation: Bool, _ offer: UpgradeOffer?
    ) {
        let route = self.decision?.route
        made.transfer.method = head.method
        if let path = head.target.path { made.transfer.path = path }
        made.transfer.isRepeatable = RequestHead.isIdempotent(head.method) && !content.isStreamed
        made.transfer.fields = head.fields
        made.transfer.body = content
        made.transfer.timeout = route?.timeout ?? Silence.beforeAnswer
        made.transfer.bodyTimeout = route?.timeout ?? Silence.withinAnswer
        made.transfer.streamTimeout = route?.timeout ?? Silence.ofStream
        made.transfer.timeoutKey = "request.timeout"
        if let route {
            made.transfer.connectTimeout = route.connectTimeout
            made.transfer.retries = route.retries
            made.transfer.serviceType = route.serviceType
            made.transfer.interface = route.configuration.request.interface
        }
        if case .bytes(let bytes) = content, route?.configuration.request.throttle != nil || !made.trailers.isEmpty {
            // A throttled body is sent piece by piece, and trailers can only follow chunks.
            made.transfer.body = .stream(length: made.trailers.isEmpty ? UInt64(bytes.readableBytes) : nil)
            made.content = bytes
        }
        // An upgraded stream has no content that a serializer could make or a rule for bodies could judge. In those cases the
        // request is sent without its Upgrade, which any server may ignore (RFC 9110 §7.8).
        if let offer, head.method != "HEAD", !hasOperation, made.judge?.judgesHeadsOnly ?? true {
            made.offer = offer
            made.transfer.upgrade = offer.value
        }
    }
}

extension RequestPlan.Body {
    /// True if the request is probably cheap enough to be made on the event loop.
    package func isPrompt(_ head: RequestHead) -> Bool {
        guard case .whole(let bytes, _) = self, bytes.readableBytes > 0 else { return true }
        return bytes.readableBytes <= WorkBudget.promptBytes && !head.fields.contains(.contentEncoding)
            && DocumentWeight(of: bytes.readableBytesView).valueCount <= 1000
    }
}

extension TransferRequest {
    fileprivate init(_ decision: Decision) {
        self.init(method: "", scheme: decision.scheme, authority: decision.authority, path: decision.path)
        self.rights = decision.rights
    }
}

extension TransferRequest.Body {
    package var isStreamed: Bool { if case .stream = self { true } else { false } }

    fileprivate var isEmpty: Bool {
        switch self {
        case .none: true
        case .bytes(let bytes): bytes.readableBytes == 0
        case .stream: false
        }
    }
}

extension LimitsConfiguration {
    /// The reason why no more bytes can be held.
    package var memoryShortage: String {
        "as many bytes are held as limits.held_bytes (\(self.heldBytes.spelledAsBytes)) allows; try again later"
    }
}

extension WorkBudget.Interruption {
    /// The reason why work was given up, to follow the name of the work in a sentence.
    package var reason: String {
        switch self {
        case .steps(let limit): "takes more than \(limit) steps"
        case .time: "takes too much time"
        case .memory: "takes more memory than there is"
        case .cancelled: "was given up"
        }
    }
}
