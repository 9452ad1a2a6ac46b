// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
internal import PintleMessage
internal import PintleTrust

/// The cookies of one session, in memory (RFC 6265 §5.3, §5.4), for all of its loops.
final class CookieJar: Sendable {
    /// The most cookies of all hosts, and of one; RFC 6265 §6.1 asks for 3000 and 50.
    fileprivate static let mostInAll = 3000
    fileprivate static let mostOfOne = 150
    /// The most bytes of a Cookie field: many servers take no more of a line.
    private static let longestHeader = 8 * 1024

    fileprivate struct State: Sendable {
        var cookies: [Cookie] = []
        /// Counts up with each cookie that is made, for their order.
        var sequence: UInt64 = 0
    }

    private let state = NIOLockedValueBox(State())

    /// The value of a Cookie field for a request; nil where no cookie belongs to it.
    func header(for url: HTTPURL, at now: UnixTime = .now) -> String? {
        let cookies = self.state.withLockedValue { state in
            state.cookies.removeAll { $0.hasExpired(at: now) }
            return state.cookies.filter { $0.belongs(to: url) }
        }
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

    /// Takes what a response to a request for `url` sets.
    func take(_ fields: Fields, from url: HTTPURL, at now: UnixTime = .now) {
        guard fields.contains(.setCookie) else { return }
        for line in fields.values(of: "Set-Cookie") {
            guard let cookie = Cookie(line, from: url, at: now) else { continue }
            let isSecret = Cookie.isSecret(url)
            self.state.withLockedValue { state in
                guard isSecret || !state.cookies.contains(where: cookie.shadows) else { return }
                state.keep(cookie, at: now)
            }
        }
    }

    /// Forgets every cookie.
    func forget() { self.state.withLockedValue { $0.cookies.removeAll() } }
}

extension CookieJar.State {
    fileprivate mutating func keep(_ cookie: Cookie, at now: UnixTime) {
        var cookie = cookie
        self.sequence += 1
        cookie.sequence = self.sequence
        if let place = self.cookies.firstIndex(where: { $0.isSame(as: cookie) }) {
            cookie.sequence = self.cookies[place].sequence
            self.cookies.remove(at: place)
        }
        guard !cookie.hasExpired(at: now) else { return }
        let own = self.cookies.indices.filter { self.cookies[$0].domain == cookie.domain }
        if own.count >= CookieJar.mostOfOne, let oldest = own.min(by: { self.isOlder($0, $1) }) {
            self.cookies.remove(at: oldest)
        } else if self.cookies.count >= CookieJar.mostInAll,
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
