// SPDX-License-Identifier: Apache-2.0

/// The cookies of one user agent (RFC 6265 §5.3, §5.4). Moments are seconds since 1970.
package struct CookieStore: Sendable {
    /// The most cookies of all hosts, and of one; RFC 6265 §6.1 asks for 3000 and 50.
    private static let mostInAll = 3000
    private static let mostOfOne = 150

    private var cookies: [Cookie] = []
    /// Counts up with each cookie that is made, for their order.
    private var sequence: UInt64 = 0

    package init() {}

    /// The cookies that belong to a request, in no order.
    package mutating func cookies(for url: HTTPURL, at now: Int64) -> [Cookie] {
        self.cookies.removeAll { $0.hasExpired(at: now) }
        return self.cookies.filter { $0.belongs(to: url) }
    }

    /// Keeps a cookie; one that has expired takes away its like.
    ///
    /// - Parameter isSecret: whether nobody on the way could read what has set it.
    package mutating func keep(_ cookie: Cookie, isSecret: Bool, at now: Int64) {
        // An open connection must not take the place of a Secure cookie (RFC 6265bis §5.7): the new one is ignored.
        guard isSecret || !self.cookies.contains(where: cookie.shadows) else { return }
        var cookie = cookie
        self.sequence += 1
        cookie.sequence = self.sequence
        if let place = self.cookies.firstIndex(where: { $0.isSame(as: cookie) }) {
            cookie.sequence = self.cookies[place].sequence
            self.cookies.remove(at: place)
        }
        guard !cookie.hasExpired(at: now) else { return }
        let own = self.cookies.indices.filter { self.cookies[$0].domain == cookie.domain }
        if own.count >= Self.mostOfOne, let oldest = own.min(by: { self.isOlder($0, $1) }) {
            self.cookies.remove(at: oldest)
        } else if self.cookies.count >= Self.mostInAll,
            let oldest = self.cookies.indices.min(by: { self.isOlder($0, $1) })
        {
            self.cookies.remove(at: oldest)
        }
        self.cookies.append(cookie)
    }

    private func isOlder(_ left: Int, _ right: Int) -> Bool {
        self.cookies[left].sequence < self.cookies[right].sequence
    }
}

extension Cookie {
    /// The most bytes of a Cookie field: many servers take no more of a line.
    private static let longestHeader = 8 * 1024

    /// The value of a Cookie field with these; nil where there are none.
    package static func header(_ cookies: [Cookie]) -> String? {
        guard !cookies.isEmpty else { return nil }
        // Longer paths first, then the older ones (RFC 6265 §5.4).
        let ordered = cookies.sorted { left, right in
            let (one, other) = (left.path.utf8.count, right.path.utf8.count)
            return one == other ? left.sequence < right.sequence : one > other
        }
        var header = ""
        for cookie in ordered {
            let pair = cookie.name.isEmpty ? cookie.value : "\(cookie.name)=\(cookie.value)"
            guard header.utf8.count + pair.utf8.count + 2 <= Self.longestHeader else { break }
            header += header.isEmpty ? pair : "; \(pair)"
        }
        return header
    }
}
