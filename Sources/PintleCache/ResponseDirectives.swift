// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The cache directives of a response (RFC 9111 §5.2.2) with Expires. Of contradictory ones the most restrictive
/// counts.
///
/// A targeted field, where there is a valid one, takes the place of Cache-Control and Expires (RFC 9213 §2.2).
struct ResponseDirectives {
    /// True where Cache-Control is not as the grammar says.
    private(set) var isMalformed = false
    private(set) var noStore = false
    /// True for the form without field names, and where the names are not usable.
    private(set) var noCache = false
    /// True for the form without field names, and where the names are not usable.
    private(set) var isPrivate = false
    private(set) var isPublic = false
    private(set) var mustRevalidate = false
    private(set) var proxyRevalidate = false
    private(set) var mustUnderstand = false
    private(set) var maxAge: Int64?
    private(set) var sharedMaxAge: Int64?
    private(set) var staleWhileRevalidate: Int64?
    private(set) var staleIfError: Int64?
    /// The fields that `no-cache` and, in a shared cache, `private` name, in lower case: they are not stored.
    private(set) var excludedFields: Set<String> = []
    /// True where there is an Expires field that counts.
    private(set) var hasExpires = false
    private let isShared: Bool

    init(_ fields: Fields, rules: CacheRules) {
        self.isShared = rules.isShared
        if let name = rules.targetedName,
            let directives = TargetedFieldReader.directives(called: name, in: fields)
        {
            for directive in directives { self.take(directive) }
            return
        }
        self.hasExpires = fields.contains("Expires")
        guard fields.contains(.cacheControl) else { return }
        guard let directives = CacheControlReader.directives(in: fields) else {
            self.isMalformed = true
            return
        }
        for directive in directives { self.take(directive) }
    }

    /// True where a lifetime was given, good or bad, that counts in this cache.
    var hasExplicitLifetime: Bool {
        self.maxAge != nil || self.hasExpires || (self.isShared && self.sharedMaxAge != nil)
    }

    /// True where a stale response must not be used (RFC 9111 §4.2.4, §5.2.2.2, §5.2.2.8, §5.2.2.10).
    var forbidsStale: Bool {
        self.noCache || self.mustRevalidate
            || (self.isShared && (self.proxyRevalidate || self.sharedMaxAge != nil))
    }

    /// True where a shared cache may store the answer to a request with Authorization (RFC 9111 §3.5).
    var allowsAuthorized: Bool { self.mustRevalidate || self.isPublic || self.sharedMaxAge != nil }

    private mutating func take(_ directive: CacheDirective) {
        func least(_ known: Int64?) -> Int64 { min(known ?? .max, directive.lifetime) }
        switch directive.name {
        case "no-store": self.noStore = true
        case "no-cache": self.exclude(directive, otherwise: \.noCache)
        case "private": if self.isShared { self.exclude(directive, otherwise: \.isPrivate) }
        // It has no argument: with one it says something else.
        case "public": if directive.isUnqualified { self.isPublic = true }
        case "must-revalidate": self.mustRevalidate = true
        case "proxy-revalidate": self.proxyRevalidate = true
        case "must-understand": if directive.isUnqualified { self.mustUnderstand = true }
        case "max-age": self.maxAge = least(self.maxAge)
        case "s-maxage": self.sharedMaxAge = least(self.sharedMaxAge)
        case "stale-while-revalidate": self.staleWhileRevalidate = least(self.staleWhileRevalidate)
        case "stale-if-error": self.staleIfError = least(self.staleIfError)
        default: break
        }
    }

    /// The most names that a qualified directive may have.
    private static let nameLimit = 32
    /// The most bytes of their list.
    private static let listLimit = 1024

    /// Fields without which a stored response would mean something else: who names them means the whole response.
    private static let essential: Set<String> = [
        "cache-control", "content-encoding", "content-range", "content-type", "date", "etag", "expires",
        "last-modified",
        "vary",
    ]

    /// Takes the field names of `no-cache` or `private`; where there are none that can be left out, the directive
    /// holds for the whole response.
    private mutating func exclude(
        _ directive: CacheDirective, otherwise whole: WritableKeyPath<ResponseDirectives, Bool>
    ) {
        guard case .text(let list) = directive.argument, list.count <= Self.listLimit else {
            self[keyPath: whole] = true
            return
        }
        let names = list.split(separator: UInt8(ascii: ",")).map { ASCII.trimmed($0) }.filter { !$0.isEmpty }
        let texts = names.map { String(decoding: $0.map(ASCII.lowercased), as: UTF8.self) }
        guard !names.isEmpty, names.count <= Self.nameLimit, names.allSatisfy({ ASCII.isToken($0) }),
            Self.essential.isDisjoint(with: texts)
        else {
            self[keyPath: whole] = true
            return
        }
        self.excludedFields.formUnion(texts)
        if self.excludedFields.count > Self.nameLimit { self[keyPath: whole] = true }
    }
}
