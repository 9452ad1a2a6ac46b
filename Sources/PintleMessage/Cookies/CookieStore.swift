// SPDX-License-Identifier: Apache-2.0

/// The cookies of one user agent (RFC 6265 §5.3, §5.4). Times are seconds since 1970.
package struct CookieStore: Sendable {
    /// The maximum number of cookies, in total and per domain. RFC 6265 §6.1 asks for at least 3000 and 50.
    private static let mostInAll = 3000
    private static let mostOfOne = 150

    private struct Entry: Sendable {
        let cookie: Cookie
        /// The position in the order of creation.
        let sequence: UInt64
    }

    /// The cookies of each domain, unordered.
    private var entries: [String: [Entry]] = [:]
    private var count = 0
    /// The number of cookies created so far; the last one's ``Entry/sequence``.
    private var sequence: UInt64 = 0

    package init() {}

    // MARK: Asking

    /// Returns the cookies of a request in the order in which they are sent: longer paths first, then older cookies (RFC
    /// 6265 §5.4).
    package func cookies(for url: HTTPURL, at now: Int64) -> [Cookie] {
        var found: [Entry] = []
        for domain in Self.domains(over: url.authority.host) {
            for entry in self.entries[domain] ?? []
            where !entry.cookie.hasExpired(at: now) && entry.cookie.belongs(to: url) { found.append(entry) }
        }
        found.sort { left, right in
            let (one, other) = (left.cookie.path.utf8.count, right.cookie.path.utf8.count)
            return one == other ? left.sequence < right.sequence : one > other
        }
        return found.map(\.cookie)
    }

    /// Returns all cookies that have not expired, in the order of creation.
    package func all(at now: Int64) -> [Cookie] {
        self.entries.values.joined().filter { !$0.cookie.hasExpired(at: now) }.sorted { $0.sequence < $1.sequence }
            .map(\.cookie)
    }

    // MARK: Changing

    /// Stores a cookie; one that has expired removes the stored cookie with its name, domain and path.
    ///
    /// - Parameter isSecret: true if no other machine could read the response that set the cookie.
    /// - Returns: true if the stored cookies have changed.
    @discardableResult
    package mutating func keep(_ cookie: Cookie, isSecret: Bool, at now: Int64) -> Bool {
        // A plaintext response must not replace a Secure cookie (RFC 6265bis §5.7): the new cookie is ignored.
        guard isSecret || !self.entries.values.contains(where: { $0.contains { cookie.shadows($0.cookie) } }) else {
            return false
        }
        // Removed from the dictionary, so that changing it makes no copy.
        var own = self.entries.removeValue(forKey: cookie.domain) ?? []
        self.count -= own.count
        defer {
            self.count += own.count
            if !own.isEmpty { self.entries[cookie.domain] = own }
            if self.count > Self.mostInAll { self.makeRoom(at: now) }
        }
        let place = own.firstIndex { $0.cookie.isSame(as: cookie) }
        guard !cookie.hasExpired(at: now) else {
            if let place { own.remove(at: place) }
            return place != nil
        }
        if let place {
            defer { own[place] = Entry(cookie: cookie, sequence: own[place].sequence) }
            return !own[place].cookie.isEqual(to: cookie)
        }
        if own.count >= Self.mostOfOne { own.removeAll { $0.cookie.hasExpired(at: now) } }
        if own.count >= Self.mostOfOne, let oldest = own.indices.min(by: { own[$0].sequence < own[$1].sequence }) {
            own.remove(at: oldest)
        }
        self.sequence += 1
        own.append(Entry(cookie: cookie, sequence: self.sequence))
        return true
    }

    /// Removes cookies.
    ///
    /// - Returns: true if there were any.
    package mutating func remove(where isUnwanted: (Cookie) -> Bool) -> Bool {
        let before = self.count
        for (domain, own) in self.entries where own.contains(where: { isUnwanted($0.cookie) }) {
            let rest = own.filter { !isUnwanted($0.cookie) }
            self.count -= own.count - rest.count
            self.entries[domain] = rest.isEmpty ? nil : rest
        }
        return self.count < before
    }

    /// Removes the cookie with this name, domain and path.
    ///
    /// - Returns: true if there was one.
    package mutating func remove(_ cookie: Cookie) -> Bool {
        guard let place = self.entries[cookie.domain]?.firstIndex(where: { $0.cookie.isSame(as: cookie) }) else {
            return false
        }
        self.entries[cookie.domain]?.remove(at: place)
        if self.entries[cookie.domain]?.isEmpty == true { self.entries[cookie.domain] = nil }
        self.count -= 1
        return true
    }

    private mutating func makeRoom(at now: Int64) {
        if self.remove(where: { $0.hasExpired(at: now) }), self.count <= Self.mostInAll { return }
        let oldest = self.entries.values.joined().min { $0.sequence < $1.sequence }
        if let oldest { _ = self.remove(oldest.cookie) }
    }

    /// The host, and the domains above it.
    private static func domains(over host: String) -> [String] {
        guard IPAddress(host) == nil else { return [host] }
        return [host]
            + host.utf8.indices.filter { host.utf8[$0] == UInt8(ascii: ".") }.map {
                String(host[host.utf8.index(after: $0)...])
            }
    }
}

extension Cookie {
    /// The maximum size of a Cookie field in bytes: many servers accept no longer lines.
    private static let longestHeader = 8 * 1024

    /// The value of a Cookie field with these cookies, in this order, up to ``longestHeader``; nil if there are no cookies.
    package static func header(_ cookies: [Cookie]) -> String? {
        guard !cookies.isEmpty else { return nil }
        var header = ""
        for cookie in cookies {
            let pair = cookie.name.isEmpty ? cookie.value : "\(cookie.name)=\(cookie.value)"
            guard header.utf8.count + pair.utf8.count + 2 <= Self.longestHeader else { break }
            header += header.isEmpty ? pair : "; \(pair)"
        }
        return header
    }
}
