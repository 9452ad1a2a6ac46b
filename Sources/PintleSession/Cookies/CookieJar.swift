// SPDX-License-Identifier: Apache-2.0

public import PintleMessage
internal import PintleSystem
internal import PintleTrust

/// The cookies of one user, for any number of sessions and threads (RFC 6265).
///
/// It keeps at most 3,000 cookies, 150 of them of one domain; the oldest are removed first. Cookies for a public suffix
/// such as `co.uk` are refused. A jar is in memory only, or also in a file.
public final class CookieJar: Sendable {
    /// A change of a jar.
    public enum Event: Sendable {
        /// A cookie was added, changed or deleted. A cookie that expires causes no event.
        case changed
        /// The file has the cookies that the jar had when this save began.
        case saved
        /// The file could not be written, and is unchanged. The next change, or ``CookieJar/save()``, tries again.
        case saveFailed(CookieFileError)
    }

    private let store: Locked<CookieStore>
    private let file: CookieFile?
    private let events = EventBroadcast<Event>(.bufferingNewest(256))

    /// Makes an empty jar in memory.
    public init() {
        self.store = Locked(CookieStore())
        self.file = nil
    }

    /// Makes a jar of the cookies in a file, and saves them there. The format is Netscape's `cookies.txt`, as of curl
    /// and wget.
    ///
    /// The file is read before this returns, and need not exist yet. ``save()`` replaces the whole file in one step,
    /// for its user only (mode 0600): comments, and cookies that another program has added meanwhile, are lost. The
    /// format cannot hold SameSite, nor a cookie without a name or with a tab in it.
    ///
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - keepingSessionCookies: true if cookies that end with the session are written too, as curl does. Those in a
    ///     file are read in any case. Default false.
    ///   - savingChanges: true if the file is also written automatically, about a second after cookies have changed. A
    ///     program must still ``save()`` before it ends. Default false.
    ///   - skippingMalformedLines: true if lines that are not cookies are skipped, as curl does, and lost when the file
    ///     is written. Default false: the first such line is an error.
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
            // Any user who can write the file could also write secure cookies into it.
            store.keep(cookie, isSecret: true, at: now)
        }
        self.store = Locked(store)
        self.file = file
    }

    deinit { self.events.finish() }

    // MARK: Reading

    /// All cookies that have not expired, in the order in which they were made.
    public var cookies: [Cookie] { self.store.withLock { $0.all(at: UnixTime.now.seconds) } }

    /// Returns the cookies for a request to `url`, in the order in which they are sent.
    public func cookies(for url: HTTPURL) -> [Cookie] {
        self.store.withLock { $0.cookies(for: url, at: UnixTime.now.seconds) }
    }

    /// Returns a stream of the jar's events from now on. Each call makes a stream of its own, which keeps the newest
    /// 256 events for a slow reader, and ends with the jar.
    public func eventStream() -> AsyncStream<Event> { self.events.subscribe() }

    // MARK: Filling

    /// Adds a cookie and replaces one with the same name, domain and path. A cookie that has expired only removes that
    /// one.
    ///
    /// - Throws: `CookieError` with `publicSuffix` for a cookie of a domain below which different owners have names.
    public func set(_ cookie: Cookie) throws(CookieError) {
        guard cookie.isHostOnly || !PublicSuffixes.isShared(cookie.domain) else { throw .publicSuffix }
        self.change { $0.keep(cookie, isSecret: true, at: UnixTime.now.seconds) }
    }

    /// Adds the cookie of a Set-Cookie field in a response to a request for `url`.
    ///
    /// - Parameter line: the field's value, such as `id=1; Path=/; Secure`.
    /// - Returns: the cookie; nil if `line` is not a cookie, or one that the host may not set (RFC 6265 §5.3).
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
    /// - Returns: true if there was one.
    @discardableResult
    public func delete(_ cookie: Cookie) -> Bool { self.change { $0.remove(cookie) } }

    /// Deletes all cookies for which `isUnwanted` holds.
    ///
    /// - Parameter isUnwanted: must not use the jar. Default: all cookies.
    public func deleteAll(where isUnwanted: (Cookie) -> Bool = { _ in true }) {
        self.change { $0.remove(where: isUnwanted) }
    }

    /// Deletes the cookies that are sent to a host, whatever their path.
    ///
    /// - Parameter host: in lower case; an IPv6 address without brackets.
    public func deleteAll(for host: String) { self.deleteAll { $0.belongs(toHost: host) } }

    /// Deletes the cookies that end with the session. Expired ones need no deleting: they are ignored.
    public func deleteSessionCookies() { self.deleteAll { $0.expires == nil } }

    // MARK: The file

    /// Writes the cookies to the jar's file without blocking the caller's thread. Does nothing if the jar has no file.
    ///
    /// - Throws: ``CookieFileError`` with `unwritable`; the file is then unchanged.
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

    /// Returns the value of the Cookie field for a request; nil if it gets no cookie.
    package func header(for url: HTTPURL) -> String? { Cookie.header(self.cookies(for: url)) }

    /// Stores the cookies that a response to a request for `url` sets; does nothing if it sets none.
    package func take(_ fields: Fields, from url: HTTPURL) {
        guard fields.contains(.setCookie) else { return }
        for line in fields.values(of: "Set-Cookie") { self.set(line, from: url) }
    }

    @discardableResult
    private func change(_ change: (inout CookieStore) -> Bool) -> Bool {
        guard self.store.withLock({ change(&$0) }) else { return false }
        self.events.post(.changed)
        self.file?.noteChange(of: self)
        return true
    }
}
