// SPDX-License-Identifier: Apache-2.0

internal import CPintleCurl
internal import NIOCore
internal import PintleMessage

/// Owns one `CURL *`. Used on one thread; freed with its owner, after removal from its multi handle.
struct EasyHandle: ~Copyable {
    let pointer: UnsafeMutableRawPointer
    /// The authority in the URL that is set already, so that a reused handle does not parse it again.
    private var end: Authority?
    private var socks: ProxyLink?
    private var interface: String?
    private var connectMilliseconds = -1
    /// libcurl reads the list as long as it is set, and never frees it.
    private var addresses: UnsafeMutablePointer<curl_slist>?

    init() {
        guard let pointer = curl_easy_init() else { preconditionFailure("BUG: libcurl cannot make an easy handle") }
        self.pointer = pointer
    }

    deinit {
        curl_easy_cleanup(self.pointer)
        curl_slist_free_all(self.addresses)
    }

    /// Sets the options that never change for the handles of this session.
    func configure(
        _ configuration: SessionConfiguration, context: UnsafeMutableRawPointer, dialler: UnsafeMutableRawPointer
    ) {
        self.set(CURLOPT_NOSIGNAL, 1)
        self.set(CURLOPT_PROTOCOLS_STR, "http")
        self.set(CURLOPT_CONNECT_ONLY, 1)
        // Otherwise libcurl would obey the proxy variables of the environment, and a proxy might call itself.
        self.set(CURLOPT_PROXY, "")
        self.set(CURLOPT_NOPROXY, "")
        self.set(CURLOPT_SOCKS5_AUTH, pintle_auth_basic)
        self.set(CURLOPT_TCP_NODELAY, 1)
        self.set(CURLOPT_TCP_KEEPALIVE, 1)
        // With 0 libcurl would forget the given addresses before it dials one.
        self.set(CURLOPT_DNS_CACHE_TIMEOUT, max(1, Int(clamping: configuration.dnsCache.components.seconds)))
        self.set(CURLOPT_PRIVATE, context)
        self.set(CURLOPT_OPENSOCKETDATA, context)
        self.set(CURLOPT_RESOLVER_START_DATA, context)
        self.set(CURLOPT_CLOSESOCKETDATA, dialler)
        self.check(pintle_set_open_function(self.pointer, openSocketCallback), CURLOPT_OPENSOCKETFUNCTION)
        self.check(pintle_set_close_function(self.pointer, closeSocketCallback), CURLOPT_CLOSESOCKETFUNCTION)
        self.check(
            pintle_set_resolver_function(self.pointer, resolverCallback), CURLOPT_RESOLVER_START_FUNCTION)
    }

    /// Sets the options of one dial.
    ///
    /// - Returns: true if libcurl accepted them all.
    mutating func prepare(_ target: DialTarget) -> Bool {
        var isTaken = true
        if self.end != target.end {
            isTaken = self.takes(CURLOPT_URL, "http://\(target.end.description(for: .http))/")
            // If refused, the next dial sets it again.
            self.end = isTaken ? target.end : nil
        }
        if self.socks !== target.socks {
            self.socks = target.socks
            isTaken = self.takes(CURLOPT_PROXY, target.socks?.url ?? "") && isTaken
        }
        if self.interface != target.interface {
            self.interface = target.interface
            // The prefix says that this is an interface, neither an address nor a host name.
            let spelled = target.interface.map { "if!\($0)" }
            self.check(pintle_set_text(self.pointer, CURLOPT_INTERFACE, spelled), CURLOPT_INTERFACE)
        }
        self.forgetAddresses()
        self.limitConnecting(to: target.timeLimit)
        return isTaken
    }

    /// Limits the time for connecting, counted from the moment at which libcurl is given the handle. Does nothing if the
    /// limit is the same as before.
    mutating func limitConnecting(to time: TimeAmount) {
        let milliseconds = Int(time.nanoseconds / 1_000_000)
        guard milliseconds != self.connectMilliseconds else { return }
        self.connectMilliseconds = milliseconds
        self.set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds)
    }

    /// Puts addresses of a name into libcurl's cache, where they stay as long as those of its own lookups.
    ///
    /// - Returns: true if libcurl accepts them.
    mutating func use(_ addresses: [SocketAddress], of name: String, port: UInt16) -> Bool {
        // libcurl takes a star for every name.
        guard name != "*", !name.contains(":") else { return false }
        let list = addresses.compactMap { address in
            address.ipAddress.map { $0.contains(":") ? "[\($0.prefix { $0 != "%" })]" : $0 }
        }.joined(separator: ",")
        self.forgetAddresses()
        // With the plus the entry expires. Versions of libcurl differ in whether they keep a dot at the end of the
        // name.
        let bare = name.hasSuffix(".") ? String(name.dropLast()) : name
        self.addresses = curl_slist_append(nil, "+\(bare):\(port):\(list)")
        self.addresses = curl_slist_append(self.addresses, "+\(bare).:\(port):\(list)")
        return !list.isEmpty && pintle_set_list(self.pointer, CURLOPT_RESOLVE, self.addresses) == CURLE_OK
    }

    private mutating func forgetAddresses() {
        // libcurl was given no addresses.
        guard self.addresses != nil else { return }
        self.check(pintle_set_list(self.pointer, CURLOPT_RESOLVE, nil), CURLOPT_RESOLVE)
        curl_slist_free_all(self.addresses)
        self.addresses = nil
    }

    // MARK: Asking

    /// Completes `metrics` when the dial has ended.
    func fill(_ metrics: inout TransferMetrics) {
        metrics.nameLookup = self.offset(CURLINFO_NAMELOOKUP_TIME_T)
        metrics.connect = self.offset(CURLINFO_CONNECT_TIME_T)
        metrics.total = self.offset(CURLINFO_TOTAL_TIME_T) ?? .zero
        metrics.address = self.text(CURLINFO_PRIMARY_IP)
    }

    /// Returns a time of libcurl's, which counts in microseconds and has zero for a phase that did not happen.
    private func offset(_ info: CURLINFO) -> Duration? {
        var value: curl_off_t = 0
        guard pintle_get_offset(self.pointer, info, &value) == CURLE_OK, value > 0 else { return nil }
        return .microseconds(value)
    }

    func long(_ info: CURLINFO) -> Int {
        var value = 0
        return pintle_get_long(self.pointer, info, &value) == CURLE_OK ? value : 0
    }

    private func text(_ info: CURLINFO) -> String {
        var value: UnsafePointer<CChar>?
        guard pintle_get_text(self.pointer, info, &value) == CURLE_OK, let value else { return "" }
        return String(cString: value)
    }

    func activeSocket() -> Int32? {
        var socket: curl_socket_t = -1
        return pintle_get_socket(self.pointer, &socket) == CURLE_OK && socket >= 0 ? socket : nil
    }

    // MARK: Setting

    private func set(_ option: CURLoption, _ value: Int) {
        self.check(pintle_set_long(self.pointer, option, value), option)
    }

    private func set(_ option: CURLoption, _ value: String) {
        self.check(pintle_set_text(self.pointer, option, value), option)
    }

    private func set(_ option: CURLoption, _ value: UnsafeMutableRawPointer) {
        self.check(pintle_set_pointer(self.pointer, option, value), option)
    }

    private func takes(_ option: CURLoption, _ value: String) -> Bool {
        pintle_set_text(self.pointer, option, value) == CURLE_OK
    }

    /// The options set here do not depend on input: a libcurl that refuses one is not the one that this was built for.
    private func check(_ result: CURLcode, _ option: CURLoption) {
        precondition(result == CURLE_OK, "BUG: libcurl refuses option \(option.rawValue): code \(result.rawValue)")
    }
}

extension TransferMetrics {
    /// Adds the time that had passed before libcurl's clock started to every phase that took place.
    mutating func delay(by time: Duration) {
        for phase in [\Self.nameLookup, \.connect, \.tls, \.firstByte] {
            if let passed = self[keyPath: phase] { self[keyPath: phase] = passed + time }
        }
        self.total += time
    }
}
