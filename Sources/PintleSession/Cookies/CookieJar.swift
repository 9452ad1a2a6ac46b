// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
public import PintleMessage
internal import PintleSystem
internal import PintleTrust

/// The cookies of one user, for any number of sessions and threads (RFC 6265).
///
/// It keeps at most 3,000 cookies, 150 of them of one domain; the oldest go first. None is for a public suffix such as
/// `co.uk`. A jar is in memory, or in memory and a file.
public final class CookieJar: Sendable {
    /// A change of a jar.
    public enum Event: Sendable {
        /// A cookie was added, changed or deleted. Cookies that expire go without an event.
        case changed
        /// The file has the cookies as they were when this save began.
        case saved
        /// The file could not be written, and is as it was. The next change, or ``CookieJar/save()``, tries again.
        case saveFailed(CookieFileError)
    }

    private let store: NIOLockedValueBox<CookieStore>
    private let file: CookieFile?
    private let events = EventBroadcast<Event>(.bufferingNewest(256))

    /// Makes an empty jar in memory.
    public init() {
        self.store = NIOLockedValueBox(CookieStore())
        self.file = nil
    }

    /// Makes a jar of the cookies in a file, and keeps them there: Netscape's `cookies.txt`, as curl and wget have it.
    ///
    /// The file is read before this returns, and need not be there yet. It is written by ``save()``, in one step and for its
    /// user only (mode 0600), with every line of its own: comments and cookies that another program has added
    /// meanwhile are lost. SameSite has no place in it, nor has a cookie without a name or with a tab in it.
    ///
    /// - Parameters:
    ///   - path: of the file.
    ///   - keepingSessionCookies: whether cookies that end with the session are written, too, as curl does. Those that
    ///     a file has are read either way. Default false.
    ///   - savingChanges: whether the file is also written by itself, about a second after cookies have changed. Before
    ///     a program ends it has to ``save()`` all the same. Default false.
    ///   - skippingMalformedLines: whether lines that are no cookies are passed over, as curl does, and lost when the
    ///     file is written. Default false: the first one is an error.
    /// - Throws: ``CookieFileError`` with `unreadable`, `tooLarge` or `malformed`.
    public convenience init(
        file path: String, keepingSessionCookies: Bool = false, savingChanges: Bool = false,
        skippingMalformedLines: Bool = false
    ) throws(CookieFileError) {
        try self.init(
            CookieFile(path, keepsSessionCookies: keepingSessionCookies, savesChanges: savingChanges),
            skippingMalformedLines: skippingMalformedLines)
    }

    init(_ file: CookieFile, skippingMalformedLines: Bool) throws(CookieFileError) {
        var store = CookieStore()
        let now = UnixTime.now.seconds
        try file.read(skippingMalformedLines: skippingMalformedLines) { cookie in
            // Whoever can write the file could put in any other cookie.
            store.keep(cookie, isSecret: true, at: now)
        }
        self.store = NIOLockedValueBox(store)
        self.file = file
    }

    deinit { self.events.finish() }

    // MARK: Reading

    /// All cookies that count now, in the order in which they were made.
    public var cookies: [Cookie] { self.store.withLockedValue { $0.all(at: UnixTime.now.seconds) } }

    /// The cookies that a request for `url` gets, in the order in which they are sent.
    public func cookies(for url: HTTPURL) -> [Cookie] {
        self.store.withLockedValue { $0.cookies(for: url, at: UnixTime.now.seconds) }
    }

    /// What happens to the jar, from now on. Each call makes a stream of its own, which keeps the newest 256 events for
    /// a reader that is slow, and ends with the jar.
    public func eventStream() -> AsyncStream<Event> { self.events.subscribe() }

    // MARK: Filling

    /// Adds a cookie, in the place of one with the same name, domain and path. One that has expired only takes that away.
    ///
    /// - Throws: `CookieError` with `publicSuffix` for a cookie of a domain below which strangers have names.
    public func set(_ cookie: Cookie) throws(CookieError) {
        guard cookie.isHostOnly || !PublicSuffixes.isShared(cookie.domain) else { throw .publicSuffix }
        self.change { $0.keep(cookie, isSecret: true, at: UnixTime.now.seconds) }
    }

    /// Does as a response to a request for `url` would that has this Set-Cookie field.
    ///
    /// - Parameter line: the field's value, such as `id=1; Path=/; Secure`.
    /// - Returns: the cookie; nil where `line` is none, or one that the host may not set (RFC 6265 §5.3).
    @discardableResult
    public func set(_ line: String, from url: HTTPURL) -> Cookie? {
        let now = UnixTime.now.seconds
        guard let cookie = Cookie(line, from: url, at: now, isShared: PublicSuffixes.isShared) else { return nil }
        self.change { $0.keep(cookie, isSecret: Cookie.isSecret(url), at: now) }
        return cookie
    }

    // MARK: Deleting

    /// Deletes the cookie with the name, domain and path of this one.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    public func delete(_ cookie: Cookie) -> Bool { self.change { $0.remove(cookie) } }

    /// Deletes all cookies for which `isUnwanted` holds.
    ///
    /// - Parameter isUnwanted: must not ask the jar. Default: all of them.
    public func deleteAll(where isUnwanted: (Cookie) -> Bool = { _ in true }) {
        self.change { $0.remove(where: isUnwanted) }
    }

    /// Deletes the cookies that requests to a host get, whatever their path.
    ///
    /// - Parameter host: in lower case; an IPv6 address without brackets.
    public func deleteAll(for host: String) { self.deleteAll { $0.belongs(toHost: host) } }

    /// Deletes the cookies that end with the session. Those that have expired need no deleting: they do not count.
    public func deleteSessionCookies() { self.deleteAll { $0.expires == nil } }

    // MARK: The file

    /// Writes the cookies to the file of the jar; nothing happens where it has none. It does not block a thread of the
    /// caller's.
    ///
    /// - Throws: ``CookieFileError`` with `unwritable`; the file is then as it was.
    public func save() async throws(CookieFileError) {
        guard let file else { return }
        try await file.save(self)
    }

    func saved(_ result: Result<Void, CookieFileError>) {
        switch result {
        case .success: self.events.post(.saved)
        case .failure(let error): self.events.post(.saveFailed(error))
        }
    }

    // MARK: For sessions and proxies

    /// The value of a Cookie field for a request; nil where no cookie belongs to it.
    package func header(for url: HTTPURL) -> String? { Cookie.header(self.cookies(for: url)) }

    /// Takes what a response to a request for `url` sets.
    package func take(_ fields: Fields, from url: HTTPURL) {
        guard fields.contains(.setCookie) else { return }
        for line in fields.values(of: "Set-Cookie") { self.set(line, from: url) }
    }

    @discardableResult
    private func change(_ change: (inout CookieStore) -> Bool) -> Bool {
        guard self.store.withLockedValue({ change(&$0) }) else { return false }
        self.events.post(.changed)
        self.file?.noteChange(of: self)
        return true
    }
}
