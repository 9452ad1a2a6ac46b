// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
internal import PintleMessage
internal import PintleTrust

/// The cookies of one session, in memory, for all of its loops.
final class CookieJar: Sendable {
    private let store = NIOLockedValueBox(CookieStore())

    /// The value of a Cookie field for a request; nil where no cookie belongs to it.
    func header(for url: HTTPURL) -> String? {
        Cookie.header(self.store.withLockedValue { $0.cookies(for: url, at: UnixTime.now.seconds) })
    }

    /// Takes what a response to a request for `url` sets.
    func take(_ fields: Fields, from url: HTTPURL) {
        guard fields.contains(.setCookie) else { return }
        let now = UnixTime.now.seconds
        for line in fields.values(of: "Set-Cookie") {
            guard let cookie = Cookie(line, from: url, at: now, isShared: PublicSuffixes.isShared) else { continue }
            self.store.withLockedValue { $0.keep(cookie, isSecret: Cookie.isSecret(url), at: now) }
        }
    }

    /// Forgets every cookie.
    func forget() { self.store.withLockedValue { $0 = CookieStore() } }
}
