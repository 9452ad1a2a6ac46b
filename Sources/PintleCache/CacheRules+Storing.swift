// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

extension CacheRules {
    /// Decides whether a response may be stored (RFC 9111 §3).
    ///
    /// - Parameters:
    ///   - response: the head as received from the origin, or that of a freshened stored response.
    ///   - request: the head as sent to the origin.
    ///   - mode: in modes that ignore the age, responses that are stale on arrival are stored, too.
    /// - Returns: `.no` with the first reason found.
    package func storability(
        of response: ResponseHead, to request: RequestHead, mode: CacheMode = .protocol
    ) -> Storability {
        if let reason = self.refusal(of: request) { return .no(reason) }
        let directives = ResponseDirectives(response.fields, rules: self)
        if let reason = self.refusal(of: response, directives) ?? self.refusal(of: response, to: request, directives) {
            return .no(reason)
        }
        let isGuessable = StatusRules.isHeuristicallyCacheable(response.status) || directives.isPublic
        // A page for a client with a cookie is often private to that client without being marked so.
        let isForAnyone = !self.isShared || !request.fields.contains(.cookie)
        guard directives.hasExplicitLifetime || (isGuessable && isForAnyone) else { return .no(.noLifetime) }
        guard mode.ignoresAge || self.isEverUsable(response, directives) else { return .no(.neverUsable) }
        return .store
    }

    /// The reason why no response to this request is stored.
    private func refusal(of request: RequestHead) -> Storability.Reason? {
        guard request.method == "GET" else { return .method }
        if request.hasBody { return .requestBody }
        if UnkeyedFields.first(in: request.fields) != nil { return .unkeyedField }
        return RequestDirectives(request.fields).noStore ? .requestNoStore : nil
    }

    /// The reason why this response is never stored, whatever the request is.
    private func refusal(of response: ResponseHead, _ directives: ResponseDirectives) -> Storability.Reason? {
        guard 200...599 ~= response.status, !StatusRules.isAboutRequest(response.status) else { return .status }
        let isUnderstood = StatusRules.isUnderstood(response.status)
        // §5.2.2.3: a cache that understands the status ignores no-store; a cache that does not must not store the response.
        if directives.mustUnderstand, !isUnderstood { return .status }
        if directives.isMalformed { return .malformedDirectives }
        if directives.noStore, !directives.mustUnderstand { return .noStore }
        if directives.isPrivate { return .isPrivate }
        if self.isShared, response.fields.contains(.setCookie) || response.fields.contains("Set-Cookie2") {
            return .setCookie
        }
        if response.fields.byteCount > self.longestHead { return .headTooLong }
        return SurrogateKeys.keys(in: response.fields) == nil ? .tags : nil
    }

    /// The reason why this response is not stored for this request.
    private func refusal(
        of response: ResponseHead, to request: RequestHead, _ directives: ResponseDirectives
    ) -> Storability.Reason? {
        // §3.5.
        if self.isShared, request.fields.contains(.authorization), !directives.allowsAuthorized {
            return .authorization
        }
        switch Variance(of: response) {
        case .any: return .varyAny
        case .tooMany: return .varyTooMany
        case .fields(let names):
            if self.isShared, names.contains(where: { Variance.secret.contains($0) && request.fields.contains($0) }) {
                return .varySecret
            }
            var values = SelectingValues(request)
            let length = values.fields(names).reduce(0) { $0 + ($1.value?.count ?? 0) }
            if length > self.longestHead { return .headTooLong }
        }
        return response.status == 206 && Part(of: response, to: request) == nil ? .partial : nil
    }

    /// False for a response that is stale on arrival, has no validator, and has no directive that allows its use when stale.
    private func isEverUsable(_ response: ResponseHead, _ directives: ResponseDirectives) -> Bool {
        if !Validators(response.fields).isEmpty { return true }
        if directives.noCache { return false }
        if self.hasLifetime(response, directives) { return true }
        return !directives.forbidsStale
            && ((directives.staleWhileRevalidate ?? 0) > 0 || (directives.staleIfError ?? 0) > 0)
    }

    private func hasLifetime(_ response: ResponseHead, _ directives: ResponseDirectives) -> Bool {
        if let seconds = self.lifetimeOfDirectives(directives) { return seconds > 0 }
        guard directives.hasExpires else { return false }
        let date = response.fields[.date].flatMap { HTTPDate.seconds(anyForm: $0, near: 0) }
        guard let expiry = self.expiry(of: response, near: date ?? 0) else { return false }
        return date.map { expiry.seconds > $0 } ?? true
    }

    /// Makes the stored form of a response that ``storability(of:to:mode:)`` allows to store.
    ///
    /// - Parameters:
    ///   - times: the times of the request and of the response's head.
    ///   - length: the length of the body in bytes. For a 206 it is that of the part; the complete length is in its
    ///     Content-Range.
    /// - Returns: nil for a 206 whose body does not have the length of its Content-Range.
    package func stored(
        _ response: ResponseHead, to request: RequestHead, at times: ExchangeTimes, length: UInt64
    ) -> StoredResponse? {
        var head = self.storable(response, at: times)
        var (whole, range): (UInt64, Range<UInt64>?) = (length, nil)
        if response.status == 206 {
            guard let part = Part(of: response, to: request), part.range.length == length else { return nil }
            head.makeWhole()
            whole = part.whole
            range = part.range == 0..<part.whole ? nil : part.range
        }
        return StoredResponse(
            head: head, requestTime: times.request, responseTime: times.response,
            initialAge: Self.initialAge(of: response, at: times), selecting: self.selecting(head, request),
            length: whole, range: range, tags: SurrogateKeys.keys(in: head.fields) ?? [])
    }

    // MARK: Parts

    /// The head without fields that are not stored (§3.1), and with a readable Date (RFC 9110 §6.6.1).
    func storable(_ response: ResponseHead, at times: ExchangeTimes) -> ResponseHead {
        var head = response
        Forwarding.removeHopByHop(from: &head.fields)
        head.fields.remove(.age)
        head.fields.remove(.setCookie)
        head.fields.remove("Set-Cookie2")
        // The field is a proof that depends on the credentials of one client (RFC 7615).
        head.fields.remove("Authentication-Info")
        // The last step, because it copies the fields: no removed field, such as a cookie, stays in memory.
        head.fields = head.fields.without(ResponseDirectives(response.fields, rules: self).excludedFields)
        if head.fields[.date].flatMap({ HTTPDate.seconds(anyForm: $0, near: times.response.seconds) }) == nil {
            head.fields.set("Date", times.response.httpDate)
        }
        return head
    }

    /// The request fields on which the response depends. Empty if they are unknown; such a response is never stored.
    func selecting(_ head: ResponseHead, _ request: RequestHead) -> [SelectingField] {
        guard case .fields(let names) = Variance(of: head) else { return [] }
        var values = SelectingValues(request)
        return values.fields(names)
    }
}

extension RequestHead {
    /// True if the request has, or may have, a body.
    var hasBody: Bool {
        if self.fields.contains(.transferEncoding) { return true }
        return self.fields.contains("Content-Length", where: { !$0.elementsEqual("0".utf8) })
    }
}

extension ResponseHead {
    /// Turns the head of a part into that of the complete representation.
    mutating func makeWhole() {
        (self.status, self.reason) = (200, "OK")
        self.fields.remove("Content-Range")
    }
}

extension Range<UInt64> {
    /// The number of bytes.
    var length: UInt64 { self.upperBound - self.lowerBound }
}

extension CacheTime {
    /// The time in the form of a field value, limited to the years 1970 to 9999.
    var httpDate: String { HTTPDate.text(min(max(self.seconds, 0), 253_402_300_799)) }
}
