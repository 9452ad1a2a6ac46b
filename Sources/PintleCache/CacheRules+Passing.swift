// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

extension CacheRules {
    /// Takes an answer that went past the cache for what is stored: a 304 to the client's own conditions (RFC 9111 §4.3.4), the
    /// answer to HEAD (§4.3.5), and a 206 (§3.4).
    ///
    /// - Parameters:
    ///   - stored: what is stored under the request's ``CacheKey``.
    ///   - request: as it went to the origin, with the client's conditions.
    /// - Returns: places in `stored` with the consequences, none of which is `.unrelated`. What a 206 is joined with is not among
    ///   them: ``joined(_:with:at:mode:)`` finds it when the bytes are here.
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
            // A weak validator is that of the latest one alone (§4.3.4).
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
            // Without a validator it is about what the client has, which may be something else.
            guard !Validators(head.fields).isEmpty || Self.asks(request, about: stored) else { return .unrelated }
            return self.freshened(stored, by: head, to: request, at: times, mode: mode)
        case 206:
            let update = self.combined(stored, with: head, to: request, at: times, mode: mode)
            if case .store = update { return .unrelated }
            return update
        default: return self.compared(stored, withHead: head, to: request, at: times, mode: mode)
        }
    }

    /// True where the client has asked what the cache itself would have asked, so that a 304 means what is stored.
    private static func asks(_ request: RequestHead, about stored: StoredResponse) -> Bool {
        let validators = Validators(stored.head.fields)
        let tags = request.fields.values(of: "If-None-Match")
        if let tag = tags.first { return tags.count == 1 && validators.tag?.description.isSpelled(tag) == true }
        let dates = request.fields.values(of: "If-Modified-Since")
        return dates.count == 1 && validators.modified?.isSpelled(dates[0]) == true
    }

    /// Joins a part with all stored responses that it adjoins or overlaps (RFC 9111 §3.4), or makes the stored form of it alone.
    ///
    /// - Returns: nil where it must not be stored, and for the beginning of a response where something complete is stored that
    ///   it does not belong to: that can still be confirmed, or answer for an origin that fails.
    package func joined(
        _ part: PartialResponse, with stored: [StoredResponse], at times: ExchangeTimes, mode: CacheMode = .protocol
    ) -> JoinedPart? {
        // Bytes that come with a cookie may be one client's own; the fields that are stored would not show it any more.
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
