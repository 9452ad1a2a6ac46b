// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The cache directives of a request (RFC 9111 §5.2.1). If they contradict each other, the most restrictive one counts.
struct RequestDirectives {
    private(set) var noCache = false
    private(set) var noStore = false
    private(set) var onlyIfCached = false
    /// The greatest age that the client accepts, in seconds.
    private(set) var maxAge: Int64?
    /// The time for which the response must still be fresh, in seconds.
    private(set) var minFresh: Int64?
    /// The greatest staleness that the client accepts, in seconds; ``CacheTime/longest`` for any staleness.
    private(set) var maxStale: Int64?
    /// The greatest staleness that the client accepts if the origin fails, in seconds (RFC 5861 §4).
    private(set) var staleIfError: Int64?

    init(_ fields: Fields) {
        guard fields.contains(.cacheControl) else {
            // RFC 9111 §5.4.
            var noCache = false
            fields.forEachMember(of: "Pragma", separatedBy: UInt8(ascii: ",")) { member in
                noCache = member.count == 8 && ASCII.equalsIgnoringCase(member, "no-cache".utf8)
                return !noCache
            }
            self.noCache = noCache
            return
        }
        guard let directives = CacheControlReader.directives(in: fields) else {
            // The most restrictive reading.
            (self.noCache, self.noStore) = (true, true)
            return
        }
        for directive in directives { self.take(directive) }
    }

    private mutating func take(_ directive: CacheDirective) {
        switch directive.name {
        case "no-cache": self.noCache = true
        case "no-store": self.noStore = true
        case "only-if-cached": self.onlyIfCached = true
        case "max-age": self.maxAge = min(self.maxAge ?? .max, directive.lifetime)
        case "min-fresh": self.minFresh = max(self.minFresh ?? 0, Self.demand(directive))
        case "max-stale":
            let allowed = directive.isUnqualified ? CacheTime.longest : directive.lifetime
            self.maxStale = min(self.maxStale ?? .max, allowed)
        case "stale-if-error": self.staleIfError = min(self.staleIfError ?? .max, directive.lifetime)
        // Unknown directives are ignored (RFC 9111 §5.2.3).
        default: break
        }
    }

    /// The value; if it is not a number, more than any response can satisfy.
    private static func demand(_ directive: CacheDirective) -> Int64 {
        guard case .text(let digits) = directive.argument else { return .max }
        return DeltaSeconds.read(digits) ?? .max
    }
}
