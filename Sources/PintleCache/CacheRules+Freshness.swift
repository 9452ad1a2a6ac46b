// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

extension CacheRules {
    /// How long a stored response is fresh, counted from its making, in seconds, 0…2^31 (RFC 9111 §4.2.1).
    ///
    /// s-maxage (in a shared cache), max-age, Expires less Date, or a guess, in this order; 0 where what is there
    /// cannot be read.
    package func lifetime(of stored: StoredResponse) -> Int64 {
        self.lifetime(of: stored, ResponseDirectives(stored.head.fields, rules: self))
    }

    /// True if the origin gave no lifetime, good or bad, and asked for no validation: it did not think of caches.
    package func saysNothing(of stored: StoredResponse) -> Bool {
        let directives = ResponseDirectives(stored.head.fields, rules: self)
        return !directives.hasExplicitLifetime && !directives.forbidsStale && !directives.isMalformed
            && !stored.head.fields.contains("Pragma")
    }

    /// True if a client takes only what its origin has confirmed for this very request (RFC 9111 §5.2.1.1, §5.2.1.4).
    package func wantsConfirmation(_ request: RequestHead) -> Bool {
        let wishes = RequestDirectives(request.fields)
        return wishes.noCache || wishes.maxAge == 0
    }

    func lifetime(of stored: StoredResponse, _ directives: ResponseDirectives) -> Int64 {
        if let seconds = self.lifetimeOfDirectives(directives) { return seconds }
        if directives.hasExpires {
            return self.expiry(of: stored.head, near: stored.responseTime.seconds)?.seconds(since: stored.date) ?? 0
        }
        guard StatusRules.isHeuristicallyCacheable(stored.head.status) || directives.isPublic,
            let modified = Validators(stored.head.fields).modified
                .flatMap({ HTTPDate.seconds(anyForm: $0, near: stored.responseTime.seconds) })
        else { return 0 }
        let unchanged = stored.date.seconds(since: CacheTime(seconds: modified))
        return min(unchanged * self.heuristicPercent / 100, self.longestHeuristic)
    }

    /// The lifetime that s-maxage or max-age gives; nil where neither is there.
    func lifetimeOfDirectives(_ directives: ResponseDirectives) -> Int64? {
        if self.isShared, let seconds = directives.sharedMaxAge { return seconds }
        return directives.maxAge
    }

    /// The earliest Expires; nil where one cannot be read, which is a time in the past (RFC 9111 §5.3).
    func expiry(of head: ResponseHead, near now: Int64) -> CacheTime? {
        let dates = head.fields.values(of: "Expires").map { HTTPDate.seconds(anyForm: $0, near: now) }
        guard !dates.contains(nil) else { return nil }
        return dates.compactMap(\.self).min().map(CacheTime.init)
    }

    /// The age of a response when it came, in seconds, 0…2^31: the greater of what its Date and its Age say, and the
    /// time that its way took on top of the latter (RFC 9111 §4.2.3).
    static func initialAge(of response: ResponseHead, at times: ExchangeTimes) -> Int64 {
        let date = response.fields[.date].flatMap { HTTPDate.seconds(anyForm: $0, near: times.response.seconds) }
            .map(CacheTime.init)
        let apparent = date.map(times.response.seconds(since:)) ?? 0
        let corrected = Self.ageValue(response.fields).addingSaturated(times.response.seconds(since: times.request))
        return min(max(apparent, corrected), CacheTime.longest)
    }

    /// The first member of Age (RFC 9111 §5.1); 0 where it is no number.
    private static func ageValue(_ fields: Fields) -> Int64 {
        guard let value = fields[.age] else { return 0 }
        let first = value.utf8.prefix { $0 != UInt8(ascii: ",") }
        return DeltaSeconds.read(ASCII.trimmed(Array(first)[...])) ?? 0
    }
}
