// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

extension CacheRules {
    /// Decides whether a stored response answers a request (RFC 9111 §4).
    ///
    /// - Parameters:
    ///   - request: the head as it would be sent to the origin.
    ///   - stored: the responses stored under the request's ``CacheKey``; only the first ``variantLimit`` ones are considered.
    ///   - mode: the mode of the route or the task.
    package func decision(
        for request: RequestHead, among stored: [StoredResponse], mode: CacheMode = .protocol, now: CacheTime
    ) -> CacheDecision {
        self.decision(for: request, among: stored.prefix(self.variantLimit).map(self.judged), mode: mode, now: now)
    }

    /// Decides like ``decision(for:among:mode:now:)-(_,[StoredResponse],_,_)``.
    package func decision(
        for request: RequestHead, among stored: [JudgedResponse], mode: CacheMode = .protocol, now: CacheTime
    ) -> CacheDecision {
        let directives = RequestDirectives(request.fields)
        let decision = self.decision(for: request, directives, among: stored, mode: mode, now: now)
        switch decision {
        case .answer, .miss: return decision
        case .validate, .forward: return directives.onlyIfCached || mode == .onlyCache ? .miss : decision
        }
    }

    /// The stored responses that could answer a request if they were fresh, the most recent first (RFC 9111 §4, §4.1).
    ///
    /// - Returns: indices in `stored`.
    package func selected(by request: RequestHead, among stored: [StoredResponse]) -> [Int] {
        self.selected(by: request, among: stored.prefix(self.variantLimit).map(self.judged))
    }

    /// Chooses the stored response that a request is about: the one that may answer it, perhaps after a validation, or would if it
    /// had a validator.
    ///
    /// - Returns: an index in `stored`.
    package func concerned(
        by request: RequestHead, among stored: [StoredResponse], mode: CacheMode, now: CacheTime
    ) -> Int? {
        switch self.decision(for: request, among: stored, mode: mode, now: now) {
        case .answer(let index, _, _, _), .validate(let index, _, _): index
        case .forward(.stale), .forward(.request): self.selected(by: request, among: stored).first
        case .forward, .miss: nil
        }
    }

    /// True if a response to `request` replaces another response, because both would answer it. A partial response replaces only
    /// one of the same range.
    package func replaces(_ new: StoredResponse, _ old: StoredResponse, for request: RequestHead) -> Bool {
        (new.isComplete || new.range == old.range) && self.matches(old, request)
    }

    /// True if the stored response could answer the request if it were fresh (§4.1). Once the origin gives another response to
    /// that request, this one is out of date.
    package func matches(_ stored: StoredResponse, _ request: RequestHead) -> Bool {
        !self.selected(by: request, among: [stored]).isEmpty
    }

    /// Selects like ``selected(by:among:)-(_,[StoredResponse])``.
    func selected(by request: RequestHead, among stored: [JudgedResponse]) -> [Int] {
        var values = SelectingValues(request)
        let known = stored.indices.prefix(self.variantLimit)
        var matching = known.filter { values.match(stored[$0].response.selecting) }
        if matching.count < 2 { return matching }
        // A response with selecting fields is preferred to one without, from which the origin left out Vary (§4.1).
        if matching.contains(where: { !stored[$0].response.selecting.isEmpty }) {
            matching.removeAll { stored[$0].response.selecting.isEmpty }
        }
        func isMoreRecent(_ left: Int, _ right: Int) -> Bool {
            if stored[left].date != stored[right].date { return stored[left].date > stored[right].date }
            let (first, second) = (stored[left].response.responseTime, stored[right].response.responseTime)
            return first != second ? first > second : left < right
        }
        return matching.sorted(by: isMoreRecent)
    }

    /// Decides whether a stored response answers although it is stale, because the origin failed (RFC 5861 §4).
    ///
    /// The client or the origin must allow it, and nothing may forbid it. If both allow it, the shorter time counts.
    ///
    /// - Parameter failure: the failure of a validation, or of the request itself.
    /// - Returns: nil if the failure has to be reported.
    package func staleAnswer(
        to request: RequestHead, from stored: StoredResponse, after failure: OriginFailure, now: CacheTime
    ) -> StaleAnswer? {
        switch failure {
        case .unreachable, .status(500), .status(502), .status(503), .status(504): break
        case .status: return nil
        }
        let wishes = RequestDirectives(request.fields)
        let directives = ResponseDirectives(stored.head.fields, rules: self)
        guard !wishes.noCache, !directives.forbidsStale,
            let allowed = [wishes.staleIfError, directives.staleIfError].compactMap(\.self).min()
        else { return nil }
        let age = stored.age(at: now)
        let staleness = age - self.lifetime(of: stored, directives)
        return staleness <= allowed ? StaleAnswer(age: age, staleness: staleness) : nil
    }

    // MARK: Inside

    private func decision(
        for request: RequestHead, _ wishes: RequestDirectives, among stored: [JudgedResponse], mode: CacheMode,
        now: CacheTime
    ) -> CacheDecision {
        guard request.method == "GET" || request.method == "HEAD" else { return .forward(.method) }
        guard mode != .ignoreLocal, !request.hasBody, UnkeyedFields.first(in: request.fields) == nil else {
            return .forward(.bypass)
        }
        // Preconditions on the origin's current state, which a cache does not know (§4.3.2).
        guard !request.fields.contains("If-Match"), !request.fields.contains("If-Unmodified-Since") else {
            return .forward(.request)
        }
        if stored.count == 1, let only = stored.first {
            // The common case needs no lists.
            var values = SelectingValues(request)
            guard values.match(only.response.selecting) else { return .forward(.varyMiss) }
            guard only.response.hasContent(for: request) else { return .forward(.partial) }
            return self.decision(at: 0, only, wishes, mode: mode, now: now)
        }
        let candidates = self.selected(by: request, among: stored)
        guard let newest = candidates.first else { return .forward(stored.isEmpty ? .uriMiss : .varyMiss) }
        let index = candidates.first { candidate in
            let response = stored[candidate].response
            guard candidate == newest || response.isSameState(as: stored[newest].response) else { return false }
            return response.hasContent(for: request)
        }
        guard let index else { return .forward(.partial) }
        return self.decision(at: index, stored[index], wishes, mode: mode, now: now)
    }

    private func decision(
        at index: Int, _ stored: JudgedResponse, _ wishes: RequestDirectives, mode: CacheMode, now: CacheTime
    ) -> CacheDecision {
        let directives = stored.directives
        let age = stored.response.age(at: now)
        let staleness = age - stored.lifetime
        func answer(revalidate: Bool = false) -> CacheDecision {
            .answer(index: index, age: age, staleness: staleness, revalidate: revalidate)
        }
        func validate(_ reason: ForwardReason) -> CacheDecision {
            guard let fields = Self.validation(of: stored.response) else { return .forward(reason) }
            return .validate(index: index, fields: fields, reason: reason)
        }
        // No mode overrides no-cache: the origin may give another response each time.
        if directives.noCache { return validate(.stale) }
        if mode.ignoresAge { return answer() }
        if wishes.noCache { return validate(.request) }
        let isYoung = wishes.maxAge.map { age <= $0 } ?? true
        if staleness < 0 {
            return isYoung && -staleness >= wishes.minFresh ?? 0 ? answer() : validate(.request)
        }
        guard !directives.forbidsStale, wishes.minFresh ?? 0 == 0, isYoung else { return validate(.stale) }
        if let allowed = wishes.maxStale, staleness <= allowed { return answer() }
        // A client that sends max-age does not want a stale response (§5.2.1.1), and max-stale limits the staleness (§5.2.1.2).
        if wishes.maxAge == nil, wishes.maxStale == nil, let allowed = directives.staleWhileRevalidate,
            staleness <= allowed
        {
            return answer(revalidate: true)
        }
        return validate(.stale)
    }
}

extension StoredResponse {
    /// True if both are of one representation, byte for byte: they have the same strong validator (RFC 9110 §8.8.1).
    func isSameState(as other: StoredResponse) -> Bool {
        guard let validator = Validators.strong(self.head.fields), let other = Validators.strong(other.head.fields)
        else {
            return false
        }
        return validator.isSpelled(other)
    }

    /// True if all bytes that the response to a request needs are stored.
    package func hasContent(for request: RequestHead) -> Bool {
        guard let held = self.range else { return true }
        guard case .bytes(let wanted) = RequestedRange(of: request, for: self) else { return false }
        return held.lowerBound <= wanted.lowerBound && wanted.upperBound <= held.upperBound
    }
}
