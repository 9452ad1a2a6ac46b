// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The cache directives of a response (RFC 9111 §5.2.2), and the presence of Expires. If directives contradict each other, the
/// most restrictive one counts.
///
/// A valid targeted field replaces Cache-Control and Expires (RFC 9213 §2.2).
struct ResponseDirectives {
    /// True if Cache-Control breaks the grammar.
    private(set) var isMalformed = false
    private(set) var noStore = false
    /// True for the form without field names, and if the names cannot be used.
    private(set) var noCache = false
    /// True for the form without field names, and if the names cannot be used.
    private(set) var isPrivate = false
    private(set) var isPublic = false
    private(set) var mustRevalidate = false
    private(set) var proxyRevalidate = false
    private(set) var mustUnderstand = false
    private(set) var maxAge: Int64?
    private(set) var sharedMaxAge: Int64?
    private(set) var staleWhileRevalidate: Int64?
    private(set) var staleIfError: Int64?
    /// The fields named by `no-cache` and, in a shared cache, by `private`, in lower case; they are not stored.
    private(set) var excludedFields: Set<String> = []
    /// True if there is an Expires field, and no targeted field that replaces it.
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
        // There are no directives.
        guard fields.contains(.cacheControl) else { return }
        guard let directives = CacheControlReader.directives(in: fields) else {
            self.isMalformed = true
            return
        }
        for directive in directives { self.take(directive) }
    }

    /// True if a lifetime, valid or not, was given that counts in this cache.
    var hasExplicitLifetime: Bool {
        self.maxAge != nil || self.hasExpires || (self.isShared && self.sharedMaxAge != nil)
    }

    /// True if a stale response must not be used (RFC 9111 §4.2.4, §5.2.2.2, §5.2.2.8, §5.2.2.10).
    var forbidsStale: Bool {
        self.noCache || self.mustRevalidate
            || (self.isShared && (self.proxyRevalidate || self.sharedMaxAge != nil))
    }

    /// True if a shared cache may store the response to a request with Authorization (RFC 9111 §3.5).
    var allowsAuthorized: Bool { self.mustRevalidate || self.isPublic || self.sharedMaxAge != nil }

    private mutating func take(_ directive: CacheDirective) {
        func least(_ known: Int64?) -> Int64 { min(known ?? .max, directive.lifetime) }
        switch directive.name {
        case "no-store": self.noStore = true
        case "no-cache": self.exclude(directive, otherwise: \.noCache)
        case "private": if self.isShared { self.exclude(directive, otherwise: \.isPrivate) }
        // The directive has no argument; with one it means something else.
        case "public": if directive.isUnqualified { self.isPublic = true }
        case "must-revalidate": self.mustRevalidate = true
        case "proxy-revalidate": self.proxyRevalidate = true
        case "must-understand": if directive.isUnqualified { self.mustUnderstand = true }
        case "max-age": self.maxAge = least(self.maxAge)
        case "s-maxage": self.sharedMaxAge = least(self.sharedMaxAge)
        case "stale-while-revalidate": self.staleWhileRevalidate = least(self.staleWhileRevalidate)
        case "stale-if-error": self.staleIfError = least(self.staleIfError)
        // Unknown directives are ignored (RFC 9111 §5.2.3).
        default: break
        }
    }

    /// The most field names that a qualified directive may have.
    private static let nameLimit = 32
    /// The longest list of these names, in bytes.
    private static let listLimit = 1024

    /// Fields that a stored response cannot lack without changing its meaning. A directive that names one applies to the whole
    /// response.
    private static let essential: Set<String> = [
        "cache-control", "content-encoding", "content-range", "content-type", "date", "etag", "expires",
        "last-modified",
        "vary",
    ]

    /// Takes the field names of `no-cache` or `private`. If there is none that can be left out, the directive applies to the
    /// whole response.
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
