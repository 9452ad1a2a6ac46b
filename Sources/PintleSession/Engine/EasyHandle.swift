// SPDX-License-Identifier: Apache-2.0

internal import CPintleCurl
internal import NIOCore
internal import PintleMessage

/// Owns one `CURL *`. Used on one thread; freed with its owner, after it was taken out of its multi handle.
struct EasyHandle: ~Copyable {
    let pointer: UnsafeMutableRawPointer
    /// What is set already, so that a reused handle does not parse or copy it again.
    private var origin: (scheme: Scheme, authority: Authority)?
    private var path = ""
    private var method = ""
    private var connectMilliseconds = -1
    private let httpVersion: SessionConfiguration.HTTPVersion
    private var proxy: ProxyLink?
    private var connectFields = HeaderBlock(capacity: 0)
    private var hasConnectFields = false
    private var hasOwnConnectFields = false
    private var usesJar = false
    /// libcurl reads the list while it is set, and never frees it.
    private var addresses: UnsafeMutablePointer<curl_slist>?
    private var givesCredential = true

    init(_ configuration: SessionConfiguration) {
        self.httpVersion = configuration.httpVersion
        guard let pointer = curl_easy_init() else { preconditionFailure("BUG: libcurl cannot make an easy handle") }
        self.pointer = pointer
    }

    deinit {
        curl_easy_cleanup(self.pointer)
        curl_slist_free_all(self.addresses)
    }

    /// Sets what never changes for a handle of this session: proxying, in design's words.
    func configure(
        _ configuration: SessionConfiguration, context: UnsafeMutableRawPointer, pool: UnsafeMutableRawPointer
    ) {
        self.set(CURLOPT_NOSIGNAL, 1)
        // Without this a transfer that ends before its name is resolved waits for the resolver's thread, and the loop with
        // it. The thread is let go instead, and cleans up after itself.
        self.set(CURLOPT_QUICK_EXIT, 1)
        self.set(CURLOPT_PROTOCOLS_STR, "http,https")
        // Without this libcurl obeys the environment, and a proxy would call itself.
        self.set(CURLOPT_PROXY, "")
        self.set(CURLOPT_NOPROXY, "")
        // What a proxy says of a tunnel is no response of the origin.
        self.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        self.configureProxies()
        if let interface = configuration.interface { self.set(CURLOPT_INTERFACE, "if!\(interface)") }
        // Chunks are taken apart here, more strictly. libcurl still follows them to know where they end.
        self.set(CURLOPT_HTTP_TRANSFER_DECODING, 0)
        self.set(CURLOPT_PATH_AS_IS, 1)
        self.set(CURLOPT_FOLLOWLOCATION, 0)
        self.set(CURLOPT_TCP_NODELAY, 1)
        self.set(CURLOPT_TCP_KEEPALIVE, 1)
        self.set(CURLOPT_BUFFERSIZE, 32 * 1024)
        self.set(CURLOPT_UPLOAD_BUFFERSIZE, 32 * 1024)
        self.set(CURLOPT_FORBID_REUSE, configuration.idleConnections == 0 ? 1 : 0)
        self.set(CURLOPT_MAXAGE_CONN, Int(configuration.idleTimeout.nanoseconds / 1_000_000_000))
        // With 0 libcurl would forget the addresses that it is given before it dials one.
        self.set(CURLOPT_DNS_CACHE_TIMEOUT, max(1, Int(configuration.dnsCache.nanoseconds / 1_000_000_000)))
        // The policy's callback decides on chain and name; libcurl only has to obey it and load no store of its own.
        self.set(CURLOPT_SSL_VERIFYPEER, 1)
        self.set(CURLOPT_SSL_VERIFYHOST, 0)
        _ = pintle_set_text(self.pointer, CURLOPT_CAINFO, nil)
        _ = pintle_set_text(self.pointer, CURLOPT_CAPATH, nil)
        self.set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)

        self.set(CURLOPT_PRIVATE, context)
        self.set(CURLOPT_HEADERDATA, context)
        self.set(CURLOPT_WRITEDATA, context)
        self.set(CURLOPT_READDATA, context)
        self.set(CURLOPT_SEEKDATA, context)
        self.set(CURLOPT_SSL_CTX_DATA, context)
        self.set(CURLOPT_OPENSOCKETDATA, context)
        self.set(CURLOPT_PREREQDATA, context)
        // A connection outlives its transfer, so the one that closes its socket must live longer.
        self.set(CURLOPT_CLOSESOCKETDATA, pool)
        _ = pintle_set_data_function(self.pointer, CURLOPT_HEADERFUNCTION, headerCallback)
        _ = pintle_set_data_function(self.pointer, CURLOPT_WRITEFUNCTION, writeCallback)
        _ = pintle_set_data_function(self.pointer, CURLOPT_READFUNCTION, readCallback)
        _ = pintle_set_seek_function(self.pointer, seekCallback)
        _ = pintle_set_ssl_function(self.pointer, sslContextCallback)
        _ = pintle_set_start_function(self.pointer, startCallback)
        _ = pintle_set_open_function(self.pointer, openSocketCallback)
        self.set(CURLOPT_RESOLVER_START_DATA, context)
        _ = pintle_set_resolver_function(self.pointer, resolverCallback)
        _ = pintle_set_close_function(self.pointer, closeSocketCallback)
    }

    /// Sets what never changes about proxies.
    private func configureProxies() {
        // As for origins: the callback decides, libcurl obeys and loads no store.
        self.set(CURLOPT_PROXY_SSL_VERIFYPEER, 1)
        self.set(CURLOPT_PROXY_SSL_VERIFYHOST, 0)
        _ = pintle_set_text(self.pointer, CURLOPT_PROXY_CAINFO, nil)
        _ = pintle_set_text(self.pointer, CURLOPT_PROXY_CAPATH, nil)
        // The limit changes nothing, since there is no newer version, and says whose handshake it is: libcurl calls back
        // for proxy and origin alike, and has put it into the proxy's context before. It also compares the versions that
        // were wished for before it resumes a TLS session, so that none of a proxy's is resumed with an origin.
        self.set(CURLOPT_PROXY_SSLVERSION, CURL_SSLVERSION_TLSv1_2 | CURL_SSLVERSION_MAX_TLSv1_3)
        self.set(CURLOPT_SOCKS5_AUTH, pintle_auth_basic)
        // What a request carries is not for the proxy of a tunnel.
        self.set(CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))
    }

    /// Takes cookies from `jar`, and puts them there.
    mutating func use(_ jar: CookieJar) {
        self.usesJar = true
        _ = pintle_set_share(self.pointer, jar.share)
        // No file, only the engine.
        self.set(CURLOPT_COOKIEFILE, "")
    }

    /// Empties the jar that the handle uses.
    func forgetCookies() { self.set(CURLOPT_COOKIELIST, "ALL") }

    /// Sets what belongs to one request.
    ///
    /// - Returns: whether libcurl took it all. It refuses texts beyond 8 MB, and would send what was there before.
    mutating func prepare(
        _ request: TransferRequest, by proxy: ProxyLink?, headers: UnsafeMutablePointer<curl_slist>?
    ) -> Bool {
        var isTaken = true
        // The target is set by itself; libcurl looks at the URL's path only to choose cookies.
        let path = self.usesJar && request.path.hasPrefix("/") ? request.path : "/"
        if self.origin?.authority != request.authority || self.origin?.scheme != request.scheme || self.path != path {
            self.origin = (request.scheme, request.authority)
            self.path = path
            let authority = request.authority.description(for: request.scheme)
            isTaken = self.set(CURLOPT_URL, "\(request.scheme.rawValue)://\(authority)\(path)")
            // Set anew the next time.
            if !isTaken { self.origin = nil }
            self.setVersion(for: request.scheme)
        }
        self.choose(proxy, for: request)
        self.forgetAddresses()
        self.limitConnecting(to: request.connectTimeout)
        self.set(CURLOPT_CONNECT_ONLY, request.connectOnly ? 1 : 0)
        self.set(CURLOPT_FRESH_CONNECT, 0)
        self.set(CURLOPT_HTTPPROXYTUNNEL, request.connectOnly ? 1 : 0)
        isTaken = self.set(CURLOPT_REQUEST_TARGET, self.target(of: request)) && isTaken
        // The order matters: each of these three resets what the others set.
        self.set(CURLOPT_NOBODY, 0)
        switch request.body {
        case .none:
            self.set(CURLOPT_HTTPGET, 1)
            if request.method == "HEAD" { self.set(CURLOPT_NOBODY, 1) }
        case .bytes(let bytes): self.upload(bytes.readableBytes)
        case .stream(let length): self.upload(length.map(Int.init(clamping:)) ?? -1)
        }
        if self.method != request.method {
            self.method = request.method
            isTaken = self.set(CURLOPT_CUSTOMREQUEST, request.method) && isTaken
        }
        return pintle_set_list(self.pointer, CURLOPT_HTTPHEADER, headers) == CURLE_OK && isTaken
    }

    /// Limits the time for connecting, from when libcurl is given the handle.
    mutating func limitConnecting(to time: TimeAmount) {
        let milliseconds = Int(time.nanoseconds / 1_000_000)
        guard milliseconds != self.connectMilliseconds else { return }
        self.connectMilliseconds = milliseconds
        self.set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds)
    }

    /// Puts addresses of a name into libcurl's cache, where they stay as long as those that it has looked up itself.
    ///
    /// - Returns: whether that can be said to libcurl at all.
    mutating func use(_ addresses: [SocketAddress], of name: String, port: UInt16) -> Bool {
        // To libcurl a star is every name.
        guard name != "*", !name.contains(":") else { return false }
        let list = addresses.compactMap { address in
            address.ipAddress.map { $0.contains(":") ? "[\($0.prefix { $0 != "%" })]" : $0 }
        }.joined(separator: ",")
        self.forgetAddresses()
        // The plus has the entry expire. Versions differ in whether they keep a dot at the end of the name.
        let bare = name.hasSuffix(".") ? String(name.dropLast()) : name
        self.addresses = curl_slist_append(nil, "+\(bare):\(port):\(list)")
        self.addresses = curl_slist_append(self.addresses, "+\(bare).:\(port):\(list)")
        return !list.isEmpty && pintle_set_list(self.pointer, CURLOPT_RESOLVE, self.addresses) == CURLE_OK
    }

    private mutating func forgetAddresses() {
        guard self.addresses != nil else { return }
        _ = pintle_set_list(self.pointer, CURLOPT_RESOLVE, nil)
        curl_slist_free_all(self.addresses)
        self.addresses = nil
    }

    /// Sets the proxy that a request goes by.
    ///
    /// libcurl adds the credential of the proxy to a Proxy-Authorization that the request has itself. That is for who
    /// forwards http; at a tunnel the credential stays the only one.
    private mutating func choose(_ proxy: ProxyLink?, for request: TransferRequest) {
        let gives = request.scheme == .https || !request.fields.contains(.proxyAuthorization)
        let isOther = proxy !== self.proxy
        if let proxy { self.setConnectFields(of: request, by: proxy, isOther: isOther) }
        guard isOther || proxy != nil && gives != self.givesCredential else { return }
        self.proxy = proxy
        self.givesCredential = gives
        self.set(CURLOPT_PROXY, proxy?.url(givingCredential: gives) ?? "")
    }

    /// libcurl would send them with a request that a proxy forwards, too.
    private mutating func setConnectFields(of request: TransferRequest, by proxy: ProxyLink, isOther: Bool) {
        let isTunnel = request.scheme == .https || request.connectOnly
        let fields = isTunnel ? request.connectFields ?? proxy.connectFields : Fields()
        guard isOther || isTunnel != self.hasConnectFields || request.connectFields != nil || self.hasOwnConnectFields
        else { return }
        _ = pintle_set_list(
            self.pointer, CURLOPT_PROXYHEADER, self.connectFields.list(of: fields, directives: []))
        self.hasConnectFields = isTunnel
        self.hasOwnConnectFields = request.connectFields != nil
    }

    private func setVersion(for scheme: Scheme) {
        let version =
            switch self.httpVersion {
            case .http1: CURL_HTTP_VERSION_1_1
            case .automatic: scheme == .https ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1
            case .http2: CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
            }
        self.set(CURLOPT_HTTP_VERSION, version)
        // Waiting for a connection that might be shared is right only where HTTP/2 can come of it.
        self.set(CURLOPT_PIPEWAIT, version == CURL_HTTP_VERSION_1_1 ? 0 : 1)
    }

    /// A proxy that forwards needs the whole URL (RFC 9112 §3.2.2); libcurl would write it, but sends a target that is
    /// set as it is.
    private func target(of request: TransferRequest) -> String {
        guard let proxy, proxy.server.forwards, request.scheme == .http else { return request.path }
        return "http://\(request.authority.description(for: .http))\(request.path)"
    }

    private func upload(_ length: Int) {
        self.set(CURLOPT_UPLOAD, 1)
        _ = pintle_set_offset(self.pointer, CURLOPT_INFILESIZE_LARGE, length)
    }

    /// Makes another connection from here on: the one that was kept may be one of many that have ended.
    func avoidKeptConnections() { self.set(CURLOPT_FRESH_CONNECT, 1) }

    /// Has the connection in use closed when the transfer is over, or kept.
    func closeAfterUse(_ closes: Bool) { self.set(CURLOPT_FORBID_REUSE, closes ? 1 : 0) }

    /// Sends trailers behind the chunked body that is under way; libcurl asks for them when the body has ended.
    func sendTrailers(context: UnsafeMutableRawPointer) {
        self.set(CURLOPT_TRAILERDATA, context)
        _ = pintle_set_trailer_function(self.pointer, trailerCallback)
    }

    // MARK: Asking

    func offset(_ info: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        return pintle_get_offset(self.pointer, info, &value) == CURLE_OK ? Int64(value) : 0
    }

    func long(_ info: CURLINFO) -> Int {
        var value = 0
        return pintle_get_long(self.pointer, info, &value) == CURLE_OK ? value : 0
    }

    func text(_ info: CURLINFO) -> String {
        var value: UnsafePointer<CChar>?
        guard pintle_get_text(self.pointer, info, &value) == CURLE_OK, let value else { return "" }
        return String(cString: value)
    }

    func activeSocket() -> Int32? {
        var socket: curl_socket_t = -1
        return pintle_get_socket(self.pointer, &socket) == CURLE_OK && socket >= 0 ? socket : nil
    }

    /// OpenSSL's `SSL *` of the connection in use.
    func tlsConnection() -> OpaquePointer? {
        var connection: UnsafeMutableRawPointer?
        guard pintle_get_tls_connection(self.pointer, &connection) == CURLE_OK else { return nil }
        return connection.map { OpaquePointer($0) }
    }

    // MARK: Setting

    private func set(_ option: CURLoption, _ value: Int) { _ = pintle_set_long(self.pointer, option, value) }
    /// - Returns: whether libcurl took it.
    @discardableResult
    private func set(_ option: CURLoption, _ value: String) -> Bool {
        pintle_set_text(self.pointer, option, value) == CURLE_OK
    }
    private func set(_ option: CURLoption, _ value: UnsafeMutableRawPointer) {
        _ = pintle_set_pointer(self.pointer, option, value)
    }
}
