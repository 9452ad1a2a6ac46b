// SPDX-License-Identifier: Apache-2.0

public import PintleMessage
public import PintleTrust

/// Settings of a session's connections, and those that its requests have in common.
public struct SessionConfiguration: Sendable {
    /// The versions of HTTP that a session may use.
    public enum HTTPVersion: String, Sendable, Hashable, CaseIterable {
        /// HTTP/1.1 only.
        case http1
        /// HTTP/2 if an https origin chooses it (ALPN), else HTTP/1.1.
        case automatic
        /// HTTP/2 without negotiation, in plaintext too: for origins that are known to support it.
        case http2
    }

    /// The treatment of cookies.
    public enum Cookies: Sendable, Equatable {
        /// Cookies are fields like any other: sent if a request has them, and returned in responses.
        case pass
        /// The session stores cookies in this jar, which other sessions may share, and sends them back to the sites
        /// they belong to (RFC 6265). If nil, each session makes a jar of its own in memory. A request's own Cookie
        /// field is sent before them.
        case jar(CookieJar?)
        /// No cookie is sent, and Set-Cookie is removed from responses.
        case block

        /// Each session has its own jar, in memory: ``Session/cookieJar``.
        public static var jar: Cookies { .jar(nil) }

        /// Two jars are equal when they are the same one.
        public static func == (left: Cookies, right: Cookies) -> Bool {
            switch (left, right) {
            case (.pass, .pass), (.block, .block): true
            case (.jar(let one), .jar(let other)): one === other
            case (.pass, _), (.jar, _), (.block, _): false
            }
        }
    }

    // MARK: Connections

    /// Default automatic.
    public var httpVersion = HTTPVersion.automatic
    /// The highest number of connections to one host, per engine thread. Further transfers wait. Default 64.
    public var connectionsPerHost = 64
    /// The highest number of connections, busy ones included, at which a connection that becomes idle is still kept,
    /// per engine thread; above it the oldest idle one is closed. 0 keeps none. Default 256.
    public var idleConnections = 256
    /// The time for which an idle connection may be used again, in whole seconds. Default 55 s: less than the 60 s
    /// after which many servers close.
    public var idleTimeout = Duration.seconds(55)
    /// The time for which a resolved name is kept. Default 60 s.
    public var dnsCache = Duration.seconds(60)
    /// Limits on the head of a response, its interim responses included, and on its trailers.
    public var responseHead = HeadLimits()
    /// The mark of outgoing packets. Default none.
    public var serviceType = ServiceType.default
    /// The network interface that connections use; if nil, the routing table decides. With a name that no interface
    /// has, every task fails as `connectFailure`.
    public var interface: String?
    /// The proxy between the session and its origins. Default none, whatever the environment says.
    public var proxy: ProxyServer?
    /// The certificate that the session shows to servers that ask for one.
    public var clientIdentity: ClientIdentity?

    // MARK: Tasks

    /// The longest time for resolving, connecting and the TLS handshake together. Default 10 s.
    public var connectTimeout = Duration.seconds(10)
    /// The longest silence of a server from which the session expects bytes. Default 60 s.
    public var timeout = Duration.seconds(60)
    /// The longest time for a whole task, redirects and retries included, while it is not suspended; nil for no limit.
    public var resourceTimeout: Duration?
    /// Fields that are added to each request that has none of that name.
    public var additionalFields = Fields()
    /// Credentials for origins that ask for them, unless a hook answers. Each is given to exactly this scheme, host and
    /// port, and once per task. The proxy's is ``ProxyServer/credential``.
    public var credentials: [Origin: Credential] = [:]
    /// Default pass.
    public var cookies = Cookies.pass
    /// Asks for bodies in content codings such as gzip, and returns them decoded. Default on, as with URLSession: the
    /// program sees the content itself, while fewer bytes are transferred.
    public var decompression = Decompression.on
    /// The store for responses, such as an `HTTPCache`; nil for none. Sessions for different users, or with different
    /// policies, must not share one.
    public var cache: (any ResponseCache)?
    /// The use of the cache by tasks whose request has no policy of its own. Default protocol.
    public var cachePolicy = CachePolicy.protocol
    /// The redirects that are followed; a hook is asked after this rule. Default all.
    public var redirects = RedirectRule.all
    /// The most redirects that one task follows. Default 20.
    public var redirectLimit = 20
    /// The most bytes of a response that a data or upload task keeps in memory. Default 64 MiB.
    public var bodyLimit = 64 << 20
    /// The folder in which a download grows if its destination is unknown until the response arrives.
    public var temporaryFolder = "/tmp"

    /// Makes a configuration with the defaults.
    public init() {}
}
