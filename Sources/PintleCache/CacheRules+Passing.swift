// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

extension CacheRules {
    /// Derives updates of stored responses from a response that bypassed the cache: from a 304 to the client's own conditions
    /// (RFC 9111 §4.3.4), from a response to HEAD (§4.3.5), or from a 206 (§3.4).
    ///
    /// - Parameters:
    ///   - stored: the responses stored under the request's ``CacheKey``.
    ///   - request: the request sent to the origin, with the client's conditions.
    /// - Returns: indices in `stored` with the updates, none of which is `.unrelated`. Responses to be combined with a 206 are
    ///   left out: ``joined(_:with:at:mode:)`` finds them when the bytes have arrived.
    package func updates(
        of stored: [StoredResponse], by head: ResponseHead, to request: RequestHead, at times: ExchangeTimes,
        mode: CacheMode = .protocol
    ) -> [(place: Int, update: CacheUpdate)] {
        guard head.status == 304 || head.status == 206 || request.method == "HEAD" else { return [] }
        var updates: [(place: Int, update: CacheUpdate)] = []
        for place in self.selected(by: request, among: stored) {
            let update = self.update(of: stored[place], by: head, to: request, at: times, mode)
            if update == .unrelated { continue }
            updates.append((place, update))
            // A weak validator belongs to the most recent response only (§4.3.4).
            if head.status == 304, Validators.strong(head.fields) == nil { break }
        }
        return updates
    }

    private func update(
        of stored: StoredResponse, by head: ResponseHead, to request: RequestHead, at times: ExchangeTimes,
        _ mode: CacheMode
    ) -> CacheUpdate {
        switch head.status {
        case 304:
            // Without a validator, a 304 is about the client's copy, which may differ from the stored response.
            guard !Validators(head.fields).isEmpty || Self.asks(request, about: stored) else { return .unrelated }
            return self.freshened(stored, by: head, to: request, at: times, mode: mode)
        case 206:
            let update = self.combined(stored, with: head, to: request, at: times, mode: mode)
            if case .store = update { return .unrelated }
            return update
        default: return self.compared(stored, withHead: head, to: request, at: times, mode: mode)
        }
    }

    /// True if the client sent the conditions that the cache itself would have sent, so that a 304 confirms the stored
    /// response.
    private static func asks(_ request: RequestHead, about stored: StoredResponse) -> Bool {
        let validators = Validators(stored.head.fields)
        let tags = request.fields.values(of: "If-None-Match")
        if let tag = tags.first { return tags.count == 1 && validators.tag?.description.isSpelled(tag) == true }
        let dates = request.fields.values(of: "If-Modified-Since")
        return dates.count == 1 && validators.modified?.isSpelled(dates[0]) == true
    }

    /// Combines a part with all stored responses that it adjoins or overlaps (RFC 9111 §3.4), or makes the stored form of the
    /// part alone.
    ///
    /// - Returns: nil if it must not be stored. Also nil for the beginning of a 200 if an unrelated complete response is
    ///   stored: that one can still be validated, or serve as a stale response.
    package func joined(
        _ part: PartialResponse, with stored: [StoredResponse], at times: ExchangeTimes, mode: CacheMode = .protocol
    ) -> JoinedPart? {
        // Bytes that come with a cookie may be private to the client; the stored fields would not show that any more.
        if part.head.fields.contains(.setCookie) || part.head.fields.contains("Set-Cookie2") { return nil }
        var joined: JoinedPart?
        var range = part.range
        for place in self.selected(by: part.request, among: stored) {
            switch self.combined(stored[place], with: part.head, to: part.request, at: times, mode: mode) {
            case .store(let both):
                let bytes = both.range ?? 0..<both.length
                range = min(range.lowerBound, bytes.lowerBound)..<max(range.upperBound, bytes.upperBound)
                joined = JoinedPart(response: joined?.response ?? both, places: (joined?.places ?? []) + [place])
            case .answerOnce: return nil
            case .outdated, .unrelated: if part.isBeginning, stored[place].isComplete { return nil }
            }
        }
        if var joined {
            joined.response.range = range == 0..<joined.response.length ? nil : range
            return joined
        }
        guard case .store = self.storability(of: part.head, to: part.request, mode: mode) else { return nil }
        return self.stored(part.head, to: part.request, at: times, length: part.range.length)
            .map { JoinedPart(response: $0, places: []) }
    }
}
