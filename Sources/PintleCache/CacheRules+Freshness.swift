// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

extension CacheRules {
    /// The freshness lifetime of a stored response, counted from its generation, in seconds, 0…2^31 (RFC 9111 §4.2.1).
    ///
    /// Taken from s-maxage (in a shared cache), max-age, Expires minus Date, or a heuristic, in this order; 0 if a value cannot
    /// be read.
    package func lifetime(of stored: StoredResponse) -> Int64 {
        self.lifetime(of: stored, ResponseDirectives(stored.head.fields, rules: self))
    }

    /// True if the origin set neither a lifetime, valid or not, nor a need for validation: it did not think of caches.
    package func saysNothing(of stored: StoredResponse) -> Bool {
        let directives = ResponseDirectives(stored.head.fields, rules: self)
        return !directives.hasExplicitLifetime && !directives.forbidsStale && !directives.isMalformed
            && !stored.head.fields.contains("Pragma")
    }

    /// True if the client accepts only a response that the origin has confirmed for this request (RFC 9111 §5.2.1.1, §5.2.1.4).
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

    /// The lifetime in s-maxage or max-age; nil if neither is there.
    func lifetimeOfDirectives(_ directives: ResponseDirectives) -> Int64? {
        if self.isShared, let seconds = directives.sharedMaxAge { return seconds }
        return directives.maxAge
    }

    /// The earliest Expires; nil if one cannot be read, which means a time in the past (RFC 9111 §5.3).
    func expiry(of head: ResponseHead, near now: Int64) -> CacheTime? {
        let dates = head.fields.values(of: "Expires").map { HTTPDate.seconds(anyForm: $0, near: now) }
        guard !dates.contains(nil) else { return nil }
        return dates.compactMap(\.self).min().map(CacheTime.init)
    }

    /// The age of a response on arrival, in seconds, 0…2^31: the greater of two values, the age by its Date, and its Age plus
    /// the delay of the exchange (RFC 9111 §4.2.3).
    static func initialAge(of response: ResponseHead, at times: ExchangeTimes) -> Int64 {
        let date = response.fields[.date].flatMap { HTTPDate.seconds(anyForm: $0, near: times.response.seconds) }
            .map(CacheTime.init)
        let apparent = date.map(times.response.seconds(since:)) ?? 0
        let corrected = Self.ageValue(response.fields).addingSaturated(times.response.seconds(since: times.request))
        return min(max(apparent, corrected), CacheTime.longest)
    }

    /// The first member of Age (RFC 9111 §5.1); 0 if it is not a number.
    private static func ageValue(_ fields: Fields) -> Int64 {
        guard let value = fields[.age] else { return 0 }
        let first = value.utf8.prefix { $0 != UInt8(ascii: ",") }
        return DeltaSeconds.read(ASCII.trimmed(Array(first)[...])) ?? 0
    }
}
