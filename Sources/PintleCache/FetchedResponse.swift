// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The response that a fetch has brought, as the clients that waited for it get it.
package struct FetchedResponse<Host: CacheHost>: Sendable {
    /// The source of a response.
    package enum Source: Sendable {
        /// From the origin, unchanged.
        case origin
        /// From the cache, after the origin has confirmed it.
        case confirmed
        /// From the cache although it is stale, because the origin has failed.
        case stale
    }

    /// The head from the origin; after a validation, the updated stored head.
    package let head: ResponseHead
    /// The length of the body in bytes; nil if it is unknown.
    package let length: UInt64?
    /// The response in its stored form; nil if only the client that caused the request may have it.
    package let stored: StoredResponse?
    package let body: Host.Body
    /// The status of the origin's response; 0 if there was none.
    package let upstreamStatus: UInt16
    package let source: Source
    /// True if the cache keeps it.
    package let isKept: Bool
    /// The reason why it is not stored, if so.
    package let reason: Storability.Reason?
    /// The request that it answers.
    package let request: RequestHead
    /// The Set-Cookie lines of a 304, for the client alone whose request the origin got.
    package let cookies: Fields
    /// The number of the fetch that brings the body; nil if the body is there.
    package let fetch: UInt64?

    /// A response as it comes from the origin.
    ///
    /// - Parameter stored: nil if no other client may have it.
    package init(
        _ head: ResponseHead, length: UInt64?, stored: StoredResponse?, _ body: Host.Body, reason: Storability.Reason?,
        of plan: CacheFetchPlan<Host>
    ) {
        (self.head, self.length, self.stored, self.body, self.reason) = (head, length, stored, body, reason)
        (self.upstreamStatus, self.source, self.cookies) = (head.status, .origin, Fields())
        self.isKept = stored != nil && plan.keeps
        (self.request, self.fetch) = (plan.request, plan.number)
    }

    /// A stored response.
    ///
    /// - Parameters:
    ///   - head: that of the origin's response, if there is one.
    ///   - isShared: true if other clients than the one that caused the request may have it.
    init(
        _ entry: CacheEntry<Host.Body>, _ source: Source, of plan: CacheFetchPlan<Host>, after head: ResponseHead?,
        isShared: Bool
    ) {
        (self.head, self.length, self.body) = (entry.response.head, entry.response.length, entry.body)
        self.stored = isShared ? entry.response : nil
        (self.upstreamStatus, self.source, self.isKept, self.reason) = (head?.status ?? 0, source, isShared, nil)
        // The cookies of a failed response are dropped with it.
        self.cookies =
            source == .confirmed ? head?.fields.lines(called: FieldNames(["Set-Cookie"])) ?? Fields() : Fields()
        (self.request, self.fetch) = (plan.request, nil)
    }

    /// The reason why a client that waited for another client's response must ask the origin itself; nil if it may have this one.
    ///
    /// Another client may need another variant, or other bytes. If the origin has failed, the response or the request must allow
    /// a stale response. Otherwise the response must be usable without validation (RFC 9111 §4); or it does not state its
    /// freshness, both requests have the same credentials, and this one does not ask for a validation.
    package func refusal(of question: CacheQuestion, at now: CacheTime) -> ForwardReason? {
        let (rules, request) = (Host.rules, question.request)
        guard let stored else { return .request }
        guard rules.matches(stored, request) else { return .varyMiss }
        guard stored.hasContent(for: request) else { return .partial }
        if self.source == .stale {
            let failure = self.upstreamStatus == 0 ? OriginFailure.unreachable : .status(self.upstreamStatus)
            return rules.staleAnswer(to: request, from: stored, after: failure, now: now) == nil ? .stale : nil
        }
        let mode = question.mode == .ignoreLocal ? .protocol : question.mode ?? .protocol
        if case .answer = rules.decision(for: request, among: [stored], mode: mode, now: now) { return nil }
        let isShareable =
            rules.saysNothing(of: stored) && request.hasCredentials(of: self.request)
            && !rules.wantsConfirmation(request)
        return isShareable ? nil : .stale
    }

    /// The head for a client.
    ///
    /// - Parameters:
    ///   - isOwn: true for the client whose request the origin got.
    ///   - reason: why the client's request was forwarded.
    package func head(
        isOwn: Bool, _ reason: ForwardReason, by cache: CacheStatus.Name, at now: CacheTime
    ) -> ResponseHead {
        var status = CacheStatus(cache: cache, way: .forward(reason))
        status.forwardStatus = self.upstreamStatus == 0 ? nil : self.upstreamStatus
        (status.stored, status.collapsed, status.detail) = (self.isKept, !isOwn, self.reason?.rawValue)
        if let stored { status.ttl = Host.rules.lifetime(of: stored) - stored.age(at: now) }
        var head = self.head
        // The client that caused the request gets the origin's response unchanged.
        if let stored, !isOwn || self.source != .origin {
            head = stored.head
            head.fields.set("Age", "\(stored.age(at: now))")
        }
        if isOwn { for (name, value) in self.cookies.pairs { head.fields.append(name, value) } }
        head.fields.append("Cache-Status", status.fieldValue)
        return head
    }

    /// The outcome for a client, see ``head(isOwn:_:by:at:)``.
    package func outcome(isOwn: Bool) -> CacheOutcome {
        switch self.source {
        case .stale where self.stored != nil: .stale
        case _ where !isOwn: .merged
        case .origin, .stale: .miss
        case .confirmed: .validated
        }
    }
}

extension RequestHead {
    /// True if both requests have the same Authorization and Cookie lines.
    fileprivate func hasCredentials(of other: RequestHead) -> Bool {
        ["Authorization", "Cookie"].allSatisfy { self.fields.values(of: $0) == other.fields.values(of: $0) }
    }
}
