// SPDX-License-Identifier: Apache-2.0

public import PintleMessage
public import PintleTrust

/// How a session uses connections, and what its requests have in common.
public struct SessionConfiguration: Sendable {
    /// The versions of HTTP that are spoken.
    public enum HTTPVersion: String, Sendable, Hashable, CaseIterable {
        /// HTTP/1.1 only.
        case http1
        /// HTTP/2 where an https origin chooses it (ALPN), else HTTP/1.1.
        case automatic
        /// HTTP/2 without asking, over clear text too: for origins that are known to speak it.
        case http2
    }

    /// What becomes of cookies.
    public enum Cookies: Sendable, Equatable {
        /// They are fields like any other: sent where a request has them, and returned in responses.
        case pass
        /// The session keeps them in this jar, which others may use too, and sends them back where they belong (RFC
        /// 6265); nil stands for a jar in memory that each session makes for itself. A request's own Cookie field is
        /// sent before them.
        case jar(CookieJar?)
        /// None is sent, and Set-Cookie is taken out of responses.
        case block

        /// Each session has a jar of its own, in memory: ``Session/cookieJar``.
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
    /// The most connections to one host at a time, per engine thread. More transfers wait for one. Default 64.
    public var connectionsPerHost = 64
    /// The most connections, those in use among them, with which one that becomes idle is still kept, per engine
    /// thread; above it the oldest idle one is closed. 0 keeps none. Default 256.
    public var idleConnections = 256
    /// How long an idle connection may be used again, in whole seconds; below the 60 s at which many servers close.
    public var idleTimeout = Duration.seconds(55)
    /// How long a resolved name is kept. Default 60 s.
    public var dnsCache = Duration.seconds(60)
    /// Limits on the head of a response, its interim responses included, and on its trailers.
    public var responseHead = HeadLimits()
    /// The mark of outgoing packets. Default none.
    public var serviceType = ServiceType.default
    /// The network interface that connections leave by; nil leaves it to the routes. A name that no interface has makes
    /// every task fail as `connectFailure`.
    public var interface: String?
    /// The proxy between the session and its origins. Default none, whatever the environment says.
    public var proxy: ProxyServer?
    /// What the session shows to servers that ask for a certificate.
    public var clientIdentity: ClientIdentity?

    // MARK: Tasks

    /// The longest time for resolving, connecting and the TLS handshake together. Default 10 s.
    public var connectTimeout = Duration.seconds(10)
    /// The longest silence of a server while something is expected of it. Default 60 s.
    public var timeout = Duration.seconds(60)
    /// The longest time for a whole task, redirects and retries included, while it is not suspended; nil for any.
    public var resourceTimeout: Duration?
    /// Fields that a request gets where it has none of that name.
    public var additionalFields = Fields()
    /// What is given to origins that ask for it, unless a hook answers them: to just this scheme, host and port, and
    /// once per task. A proxy's is ``ProxyServer/credential``.
    public var credentials: [Origin: Credential] = [:]
    /// Default pass.
    public var cookies = Cookies.pass
    /// Has bodies asked for in content codings such as gzip, and gives them without. Default on: as with
    /// URLSession, a program sees what was meant, in fewer bytes on the way.
    public var decompression = Decompression.on
    /// Where responses are kept, such as an `HTTPCache`; nil for nowhere. Sessions for different users, or with different
    /// policies, do not share one.
    public var cache: (any ResponseCache)?
    /// How tasks use the cache, unless a request says otherwise. Default protocol.
    public var cachePolicy = CachePolicy.protocol
    /// Which redirects are followed, before a hook is asked. Default all.
    public var redirects = RedirectRule.all
    /// The most redirects that one task follows. Default 20.
    public var redirectLimit = 20
    /// The most bytes of a response that a data or upload task keeps in memory. Default 64 MiB.
    public var bodyLimit = 64 << 20
    /// Where downloads grow whose destination is not known before their response.
    public var temporaryFolder = "/tmp"

    /// Makes a configuration with the defaults.
    public init() {}
}
