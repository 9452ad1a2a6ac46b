// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

extension CacheRules {
    /// The conditional fields for the validation of a stored response (RFC 9111 §4.3.1); nil if it has no validator.
    package static func validation(of stored: StoredResponse) -> Fields? {
        let validators = Validators(stored.head.fields)
        var fields = Fields()
        if let tag = validators.tag { fields.append("If-None-Match", tag.description) }
        if let modified = validators.modified { fields.append("If-Modified-Since", modified) }
        return fields.isEmpty ? nil : fields
    }

    /// Makes the request to the origin, with the cache's conditions in place of the client's. The response is a 304 or the
    /// complete representation, from which the cache cuts out the client's range.
    package static func validating(_ request: RequestHead, with conditions: Fields) -> RequestHead {
        var request = request
        for name in ["If-None-Match", "If-Modified-Since", "If-Range", "Range"] { request.fields.remove(name) }
        for (name, value) in conditions.pairs { request.fields.append(name, value) }
        return request
    }

    /// Applies a 304 to the stored response that was validated (RFC 9111 §4.3.4).
    ///
    /// - Parameters:
    ///   - request: the request with the client's conditions, without those of the cache.
    ///   - times: the times of the validation.
    package func freshened(
        _ stored: StoredResponse, by head: ResponseHead, to request: RequestHead, at times: ExchangeTimes,
        mode: CacheMode = .protocol
    ) -> CacheUpdate {
        var values = SelectingValues(request)
        guard head.status == 304, values.match(stored.selecting),
            Validators(head.fields).areAbout(Validators(stored.head.fields))
        else { return .unrelated }
        return self.verdict(on: self.updated(stored, with: head, request, times), request, mode)
    }

    /// Applies a response to HEAD to a stored response to GET (RFC 9111 §4.3.5).
    ///
    /// - Returns: `.unrelated` for statuses other than 200, and if there is nothing to compare.
    package func compared(
        _ stored: StoredResponse, withHead head: ResponseHead, to request: RequestHead, at times: ExchangeTimes,
        mode: CacheMode = .protocol
    ) -> CacheUpdate {
        var values = SelectingValues(request)
        guard request.method == "HEAD", head.status == 200, stored.head.status == 200, values.match(stored.selecting),
            let framing = try? head.bodyFraming(to: "GET")
        else { return .unrelated }
        let validators = Validators(head.fields)
        var length: UInt64?
        if case .length(let declared) = framing { length = declared }
        guard !validators.isEmpty || length != nil else { return .unrelated }
        guard validators.areAbout(Validators(stored.head.fields)), length == nil || length == stored.length else {
            return .outdated
        }
        return self.verdict(on: self.updated(stored, with: head, request, times), request, mode)
    }

    /// Combines a 206 with a stored response that it adjoins or overlaps (RFC 9111 §3.4, RFC 9110 §15.3.7.3).
    ///
    /// - Parameter request: the request sent to the origin, with Range and perhaps If-Range.
    /// - Returns: `.store` with the combined bytes; `.outdated` if the strong validator or the length differs; `.unrelated` if
    ///   nothing proves that both are parts of one representation, or if there is a gap between them.
    package func combined(
        _ stored: StoredResponse, with head: ResponseHead, to request: RequestHead, at times: ExchangeTimes,
        mode: CacheMode = .protocol
    ) -> CacheUpdate {
        var values = SelectingValues(request)
        guard let part = Part(completing: head, to: request), let known = Validators.strong(stored.head.fields),
            stored.head.status == 200, values.match(stored.selecting)
        else { return .unrelated }
        if let new = Validators.strong(head.fields) {
            guard new.isSpelled(known) else { return .outdated }
        } else {
            // An origin that honoured If-Range may omit the validator.
            let conditions = request.fields.values(of: "If-Range")
            guard Validators(head.fields).isEmpty, conditions.count == 1, conditions[0].isSpelled(known) else {
                return .unrelated
            }
        }
        guard part.whole == stored.length else { return .outdated }
        let held = stored.range ?? 0..<stored.length
        guard part.range.lowerBound <= held.upperBound, held.lowerBound <= part.range.upperBound else {
            return .unrelated
        }
        var joined = self.updated(stored, with: head, request, times)
        let both =
            min(held.lowerBound, part.range.lowerBound)..<max(held.upperBound, part.range.upperBound)
        joined.range = both == 0..<stored.length ? nil : both
        return self.verdict(on: joined, request, mode)
    }

    // MARK: Inside

    /// Fields that describe the stored bytes: a later head does not change them (§3.2).
    private static let kept: Set<String> = [
        "content-encoding", "content-length", "content-range", "content-type", "etag",
    ]

    /// The stored response with its fields updated from a later head (§3.2).
    private func updated(
        _ stored: StoredResponse, with head: ResponseHead, _ request: RequestHead, _ times: ExchangeTimes
    ) -> StoredResponse {
        var new = stored
        new.head.fields.replace(by: self.storable(head, at: times).fields.without(Self.kept))
        new.head.fields = new.head.fields.without(ResponseDirectives(new.head.fields, rules: self).excludedFields)
        (new.requestTime, new.responseTime) = (times.request, times.response)
        new.initialAge = Self.initialAge(of: head, at: times)
        new.selecting = self.selecting(new.head, request)
        new.tags = SurrogateKeys.keys(in: new.head.fields) ?? []
        return new
    }

    /// Decides whether the updated response may be stored; a later head may forbid it.
    private func verdict(on updated: StoredResponse, _ request: RequestHead, _ mode: CacheMode) -> CacheUpdate {
        var request = request
        // A stored response answers GET, whatever method was used to update it.
        request.method = "GET"
        switch self.storability(of: updated.head, to: request, mode: mode) {
        case .store: return .store(updated)
        case .no(let reason):
            // Another request could have brought this head: the stored response remains valid.
            let isAboutRequest =
                reason == .requestNoStore || reason == .authorization
                || (reason == .noLifetime && request.fields.contains(.cookie))
            return .answerOnce(updated, reason, keepsStored: isAboutRequest)
        }
    }
}
