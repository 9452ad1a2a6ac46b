// SPDX-License-Identifier: Apache-2.0

private import PintleMessage
private import PintleSession

/// Reads the top level of a configuration and the sections that are neither trust policies nor routes.
struct ConfigurationReader {
    /// Useful time limits: zero would refuse everything, and more than 30 days is a slip.
    static let timeouts: ClosedRange<Duration> = .milliseconds(1) ... .seconds(30 * 86_400)
    /// The most addresses that are listened on: more than any machine needs, and each is compared with all others.
    static let mostListeners = 1000
    /// Times that may be zero.
    static let delays: ClosedRange<Duration> = .zero ... .seconds(30 * 86_400)

    let context: LoadingContext
    private var configuration = Configuration()

    init(context: LoadingContext) {
        self.context = context
    }

    /// Reads the configuration below `root`. Faults are reported to its context.
    static func read(_ root: StrictNode) -> Configuration {
        var reader = ConfigurationReader(context: root.context)
        guard let top = root.map(.top) else { return reader.configuration }
        reader.readVersion(top)
        reader.readGeneral(top)
        if let map = top["engine"]?.map(.engine) { reader.readEngine(map) }
        if let map = top["log"]?.map(.log) { reader.readLog(map) }
        let listen = reader.configuration.listen
        top.read("tracing", into: &reader.configuration.tracing) { TracingReader.read($0, beside: listen) }
        top.read("capture", into: &reader.configuration.capture, CaptureReader.read)
        top.read("isolate", into: &reader.configuration.isolation, IsolationReader.read)
        if let map = top["limits"]?.map(.limits) { reader.readLimits(map) }
        if let map = top["clients"]?.map(.clients) {
            reader.configuration.clients = AccessReader.clients(map, of: listen)
        }
        if let map = top["destinations"]?.map(.destinations) {
            reader.configuration.destinations = AccessReader.destinations(map)
        }
        let included = IncludeReader.read(top)
        reader.configuration.includedFiles = included.files
        for map in included.maps.compactMap({ $0["destinations"]?.map(.includedDestinations) }) {
            AccessReader.add(map, to: &reader.configuration.destinations)
        }
        reader.readUpstreamProxy(top)
        if let map = top["tunnels"]?.map(.tunnels) { reader.readTunnels(map) }
        if let map = top["interception"]?.map(.interception) { reader.readInterception(map) }
        if let map = top["cache"]?.map(.cache) { reader.configuration.cache = CacheReader.read(map) }
        if let map = top["activity"]?.map(.activity) { reader.readActivity(map) }
        top.read("contract", into: &reader.configuration.contract) {
            ContractReader.read($0, .contract).map { .some($0) }
        }
        top.read("tests", into: &reader.configuration.tests) { node in
            node.nonEmptyString().map { Located(node.resolve($0), at: node.position) }
        }
        top.read("unpinned_hosts", into: &reader.configuration.unpinnedHosts) { $0.choice() }
        let maps = [top] + included.maps
        reader.configuration.trust = TrustReader.read(maps.compactMap { $0["trust"] })
        let trusted = reader.configuration
        reader.configuration.lists = ListReader.read(maps.compactMap { $0["lists"] }, beside: trusted)
        ListReader.checkUses(in: reader.configuration, root.context)
        top.read("ask", into: &reader.configuration.ask) { AskReader.read($0, beside: trusted) }
        top.read("credentials", into: &reader.configuration.credentials) { CredentialReader.read($0, beside: trusted) }
        reader.configuration.routes = RouteReader.read(
            maps.compactMap { $0["routes"] }, trust: reader.configuration.trust, hasContract: top["contract"] != nil)
        reader.configuration.simulation = SimulationReader.read(top)
        reader.configuration.recordings = ReplayReader.recordings(top)
        reader.configuration.placeTapes(in: top.node.context.resolve("recordings"))
        SimulationReader.check(reader.configuration, root)
        return reader.configuration
    }

    private func readVersion(_ top: StrictMap) {
        guard let node = top["version"] else {
            top.node.report("the key \"version\" is missing; this is: version: \(Configuration.version)")
            return
        }
        Self.checkVersion(node)
    }

    /// Refuses all versions of the format other than the current one.
    static func checkVersion(_ node: StrictNode) {
        _ = node.parsed { text throws(Malformed) in
            if text != "\(Configuration.version)" {
                throw Malformed("this version of Pintle reads version \(Configuration.version) only")
            }
        }
    }

    private mutating func readGeneral(_ top: StrictMap) {
        top.read("listen", into: &self.configuration.listen) {
            Self.readListen($0, hasCertificate: top["listen_tls"] != nil)
        }
        if let listen = self.context.listen { self.configuration.listen = listen }
        top.read("listen_tls", into: &self.configuration.listenTLS) { node in
            node.isNull ? .some(nil) : node.map(.listenTLS).flatMap(IdentityFiles.read).map { .some($0) }
        }
        let listen = self.configuration.listen
        top.read("admin", into: &self.configuration.admin.place) { Self.readAdmin($0, beside: listen) }
        top.read("admin_hosts", into: &self.configuration.admin.hosts) { $0.values(Self.readHost) }
        top.read("enforcement", into: &self.configuration.enforcement) { $0.choice() }
        top.read("via", into: &self.configuration.via) { node in
            if node.isOff { return .some(nil) }
            return node.parsed { text throws(Malformed) in
                guard FieldSyntax.isName(text), text.utf8.count <= 64 else {
                    throw Malformed("must be a pseudonym of letters, digits and -._ (a token), or off")
                }
                return text
            }
        }
    }

    /// - Returns: nil after an error, and a nil place for `off`.
    private static func readAdmin(_ node: StrictNode, beside listen: [ListenAddress]) -> ListenAddress?? {
        if node.isOff { return .some(nil) }
        let place = node.parsed { text throws(Malformed) in
            try AdminConfiguration.place(text, resolving: node.resolve)
        }
        guard let place else { return nil }
        if let other = listen.first(where: { $0.collides(with: place) }) {
            node.report("\(place) is taken by listen, \(other)")
        }
        return place
    }

    private static func readHost(_ node: StrictNode) -> String? {
        node.parsed { text throws(Malformed) in
            guard let authority = Authority(text, defaultPort: 80), authority.port == 80 else {
                throw Malformed("must be a host's name without a port")
            }
            return authority.host
        }
    }

    private static func readListen(_ node: StrictNode, hasCertificate: Bool) -> [ListenAddress]? {
        guard let nodes = node.oneOrMore() else { return nil }
        guard nodes.count <= Self.mostListeners else {
            node.report("has \(nodes.count) addresses; at most \(Self.mostListeners) are listened on")
            return nil
        }
        var listeners: [ListenAddress] = []
        for node in nodes {
            let address = node.parsed { text throws(Malformed) in
                try ListenAddress(text, resolving: node.resolve)
            }
            guard let address else { continue }
            if let other = listeners.first(where: { $0.collides(with: address) }) {
                node.report(other == address ? "\(address) is listed twice" : "\(address) is taken by \(other)")
            }
            if address.isTLS, !hasCertificate {
                node.report(
                    "\(address) needs a certificate to show to clients; write "
                        + "listen_tls: {certificate: FILE, key: FILE}")
            }
            listeners.append(address)
        }
        return listeners
    }

    private mutating func readEngine(_ map: StrictMap) {
        map.read("threads", into: &self.configuration.engine.threads, Self.readThreads)
        self.checkEventLoops(map["event_loops"], threads: self.configuration.engine.threads)
        map.read("connections_per_host", into: &self.configuration.engine.connectionsPerHost) { $0.int(1...65_535) }
        map.read("idle_connections", into: &self.configuration.engine.idleConnections) { $0.int(0...65_535) }
        map.read("idle_timeout", into: &self.configuration.engine.idleTimeout) { $0.duration(Self.timeouts) }
        map.read("http2", into: &self.configuration.engine.http2) { node in node.isOff ? .off : node.choice() }
        map.read("dns_cache", into: &self.configuration.engine.dnsCache) { $0.duration(Self.delays) }
    }

    private static func readThreads(_ node: StrictNode) -> EngineConfiguration.Threads? {
        node.parsed { text throws(Malformed) in
            if text == "auto" { return .auto }
            guard let number = Int(text), (1...64).contains(number) else {
                throw Malformed("must be auto or a whole number from 1 to 64")
            }
            return .exactly(number)
        }
    }

    /// Checks `event_loops`. The key is accepted because configurations have it, but it must be `auto` or equal `threads`.
    private func checkEventLoops(_ node: StrictNode?, threads: EngineConfiguration.Threads) {
        guard let node, let loops = Self.readThreads(node) else { return }
        if loops == .auto || loops == threads { return }
        node.report(
            "\(node.quoted): each engine thread is an event loop in this version; write auto or the same as "
                + "engine.threads")
    }

    private mutating func readLog(_ map: StrictMap) {
        map.read("level", into: &self.configuration.log.level) { $0.choice() }
        map.read("format", into: &self.configuration.log.format) { $0.choice() }
        map.read("exchanges", into: &self.configuration.log.exchanges) { node in
            if node.isOff { return .off }
            guard let text = node.nonEmptyString() else { return nil }
            guard StrictNode.boolean(text) == nil else {
                node.report(
                    "\(node.quoted): must be \"-\" for standard output, a path (./\(text) for this name), or off")
                return nil
            }
            return text == "-" ? .standardOutput : .file(node.resolve(text))
        }
        map.read("redact", into: &self.configuration.log.redact) { $0.bool() }
    }

    private mutating func readTunnels(_ map: StrictMap) {
        if map["verify"]?.isOff == true {
            self.configuration.tunnels.verifiesTrusted = false
        } else {
            map.read("verify", into: &self.configuration.tunnels.verify) { $0.hostPatterns() }
        }
        map.read("verify_ttl", into: &self.configuration.tunnels.verifyTTL) { $0.duration(Self.delays) }
    }

    private mutating func readInterception(_ map: StrictMap) {
        map.read("ca", into: &self.configuration.interception.authority) { node in
            if node.isMap { return node.map(.interceptionCA).flatMap(IdentityFiles.read).map { .files($0) } }
            return node.parsed { text throws(Malformed) in
                guard text == "default" else { throw Malformed("must be default, or {certificate: FILE, key: FILE}") }
                return .ofUser
            }
        }
        map.read("hosts", into: &self.configuration.interception.hosts) { $0.hostPatterns() }
        map.read("http2", into: &self.configuration.interception.http2) { $0.bool() }
        map.read("pass_through_on_alert", into: &self.configuration.interception.passesThroughOnAlert) { $0.bool() }
    }

    private mutating func readUpstreamProxy(_ top: StrictMap) {
        top.read("upstream_proxy", into: &self.configuration.upstreamProxy, UpstreamProxyReader.read)
        guard let node = top["upstream_proxy"], let parents = self.configuration.upstreamProxy else { return }
        for parent in [parents.http, parents.https].compactMap(\.self) {
            let authority = parent.server.authority
            guard let listener = self.configuration.listen.first(where: { $0.isReached(by: authority) }) else {
                continue
            }
            return node.report("\(parent.source) is \(authority), and this proxy listens on \(listener): a loop")
        }
    }

    private mutating func readLimits(_ map: StrictMap) {
        map.read("header_bytes", into: &self.configuration.limits.headerBytes) { $0.byteCount(1 << 10...16 << 20) }
        map.read("header_line", into: &self.configuration.limits.headerLine) { $0.byteCount(256...16 << 20) }
        map.read("header_count", into: &self.configuration.limits.headerCount) { $0.int(1...65_535) }
        map.read("body_buffer", into: &self.configuration.limits.bodyBuffer) { $0.byteCount(0...1 << 40) }
        map.read("connections", into: &self.configuration.limits.connections) { $0.int(1...1_000_000) }
        map.read("connections_per_client", into: &self.configuration.limits.connectionsPerClient) {
            $0.int(1...1_000_000)
        }
        map.read("tunnels", into: &self.configuration.limits.tunnels) { $0.int(0...1_000_000) }
        map.read("held_bytes", into: &self.configuration.limits.heldBytes) { $0.byteCount(1 << 20...1 << 50) }
        map.read("tunnels_per_client", into: &self.configuration.limits.tunnelsPerClient) { $0.int(0...1_000_000) }
        map.read("header_timeout", into: &self.configuration.limits.headerTimeout) { $0.duration(Self.timeouts) }
        map.read("idle_timeout", into: &self.configuration.limits.idleTimeout) { $0.duration(Self.timeouts) }
        map.read("body_timeout", into: &self.configuration.limits.bodyTimeout) { $0.duration(Self.timeouts) }
        map.read("tunnel_idle_timeout", into: &self.configuration.limits.tunnelIdleTimeout) {
            $0.duration(Self.timeouts)
        }
        map.read("drain_timeout", into: &self.configuration.limits.drainTimeout) { $0.duration(Self.delays) }
        let limits = self.configuration.limits
        if limits.headerLine > limits.headerBytes {
            (map["header_line"] ?? map["header_bytes"] ?? map.node).report(
                "header_line (\(limits.headerLine.spelledAsBytes)) is more than header_bytes "
                    + "(\(limits.headerBytes.spelledAsBytes)); a line cannot be longer than its section")
        }
        if map["held_bytes"] == nil {
            self.configuration.limits.heldBytes = max(limits.heldBytes, limits.bodyBuffer)
        } else if limits.bodyBuffer > limits.heldBytes {
            (map["body_buffer"] ?? map["held_bytes"] ?? map.node).report(
                "body_buffer (\(limits.bodyBuffer.spelledAsBytes)) is more than held_bytes "
                    + "(\(limits.heldBytes.spelledAsBytes)); one body cannot take more than all of them")
        }
        if let node = map["connections_per_client"], limits.connectionsPerClient > limits.connections {
            node.report(
                "\(limits.connectionsPerClient) for one client is more than connections "
                    + "(\(limits.connections)) for all")
        }
    }

    private mutating func readActivity(_ map: StrictMap) {
        map.read("activation_delay", into: &self.configuration.activity.activationDelay) { $0.duration(Self.delays) }
        map.read("completion_delay", into: &self.configuration.activity.completionDelay) { $0.duration(Self.delays) }
        map.read("log_interval", into: &self.configuration.activity.logInterval) { $0.duration(Self.timeouts) }
    }
}
