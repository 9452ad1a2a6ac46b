// SPDX-License-Identifier: Apache-2.0

/// The keys of one map of the configuration: the loader accepts them, and the schema lists them.
package struct KeySet: Sendable, Equatable {
    /// The place of the map: `limits`, `routes[].match`, `trust.NAME`; empty for the top level.
    package let path: String
    /// Keys that are read.
    package let known: [String]
    /// Keys that only the main file may have, so that the refusal can say so.
    let elsewhere: [String]

    package init(_ path: String, _ known: [String], elsewhere: [String] = []) {
        self.path = path
        self.known = known
        self.elsewhere = elsewhere
    }
}

extension KeySet {
    static let top = KeySet(
        "",
        [
            "version", "listen", "admin", "enforcement", "via", "engine", "log", "limits", "clients", "destinations",
            "activity", "contract", "trust", "routes", "tunnels", "upstream_proxy", "listen_tls", "unpinned_hosts",
            "include", "interception", "cache", "admin_hosts", "tracing", "capture", "tests",
            "simulation", "faults", "recordings", "isolate", "credentials", "ask", "lists",
        ])
    /// The keys of a file that another one includes.
    static let included = KeySet(
        "", ["version", "include", "destinations", "lists", "trust", "routes"], elsewhere: KeySet.top.known)
    static let includedDestinations = KeySet(
        "destinations", ["allow", "deny", "ask"], elsewhere: KeySet.destinations.known)
    static let listenTLS = KeySet("listen_tls", ["certificate", "key", "password"])
    static let interception = KeySet("interception", ["ca", "hosts", "http2", "pass_through_on_alert"])
    static let interceptionCA = KeySet("interception.ca", ["certificate", "key", "password"])
    static let cache = KeySet("cache", ["memory", "memory_after_purge", "disk", "path"])
    static let tunnels = KeySet("tunnels", ["verify", "verify_ttl"])
    static let upstreamProxy = KeySet("upstream_proxy", ["url", "no_proxy", "username", "password"])
    static let engine = KeySet(
        "engine",
        [
            "threads", "event_loops", "connections_per_host", "idle_connections", "idle_timeout", "http2", "dns_cache",
        ])
    static let log = KeySet("log", ["level", "format", "exchanges", "redact"])
    static let tracing = KeySet("tracing", ["otlp", "sample", "continue"])
    static let capture = KeySet("capture", ["bodies", "when"])
    static let isolation = KeySet("isolate", ["capture", "other_tcp", "expose"])
    static let credential = KeySet("credentials.NAME", ["value", "variable", "files", "for", "trust"])
    static let credentialGrant = KeySet("credentials.NAME.for[]", ["hosts", "methods", "paths", "in"])
    static let limits = KeySet(
        "limits",
        [
            "header_bytes", "header_line", "header_count", "body_buffer", "connections", "connections_per_client",
            "tunnels", "tunnels_per_client", "held_bytes", "header_timeout", "idle_timeout", "body_timeout",
            "tunnel_idle_timeout",
            "drain_timeout",
        ])
    static let clients = KeySet("clients", ["allow", "basic_auth"])
    static let basicAuth = KeySet("clients.basic_auth", ["realm", "users"])
    static let destinations = KeySet(
        "destinations",
        [
            "default", "enforcement", "allow", "deny", "ask", "private_addresses", "connect_ports", "ports", "resolve",
            "require_sni_match",
        ])
    static let ask = KeySet("ask", ["timeout", "waiting", "webhook"])
    static let askWebhook = KeySet("ask.webhook", ["url", "secret", "trust"])
    static let requireSNIMatch = KeySet("destinations.require_sni_match", ["allow_absent"])
    static let allowedDestination = KeySet("destinations.allow[]", ["host", "list", "users", "tags"])
    static let deniedDestination = KeySet("destinations.deny[]", ["host", "list", "users", "tags", "reason"])
    static let list = KeySet("lists.NAME", ["file", "url", "trust", "every", "timeout"])
    static let activity = KeySet("activity", ["activation_delay", "completion_delay", "log_interval"])
    static let trust = KeySet(
        "trust.NAME",
        [
            "hosts", "pinning", "pins", "certificates", "allow_invalid_certificates", "validates_domain_name", "roots",
            "extra_roots", "enforcement", "match", "form", "allow_common_name", "min_tls", "crl_files", "ocsp_stapling",
            "expires", "on_expiry", "warn_before_expiry", "client_certificate",
        ])
    static let clientCertificate = KeySet("trust.NAME.client_certificate", ["certificate", "key", "password"])
    static let route = KeySet(
        "routes[]",
        [
            "name", "match", "upstream", "strip_prefix", "rewrite_upstream", "respond", "cors", "trust", "connect",
            "allow_cleartext_credentials", "contract", "request", "response", "redirects", "cache", "coalesce", "mock",
            "faults", "replay",
        ])
    static let respond = KeySet("routes[].respond", ["status", "headers", "body", "json", "file"])
    static let cors = KeySet(
        "routes[].cors", ["origins", "methods", "headers", "expose", "credentials", "max_age"])
    static let routeCache = KeySet("routes[].cache", ["policy"])
    static let coalesce = KeySet("routes[].coalesce", ["max_active", "order"])
    static let contract = KeySet("contract", ["file", "requests"])
    static let routeContract = KeySet("routes[].contract", ["file", "requests"])
    static let match = KeySet("routes[].match", ["hosts", "methods", "paths", "schemes", "headers", "users", "tags"])
    static let request = KeySet(
        "routes[].request",
        [
            "headers", "authorization", "parameters", "serialize", "uri_methods", "string_encoding", "json", "plist",
            "throttle", "timeout", "connect_timeout", "retries", "cookies", "forwarded", "service_type", "interface",
        ])
    static let forwarded = KeySet("routes[].request.forwarded", ["fields", "trusted_proxies"])
    static let retries = KeySet("routes[].request.retries", ["attempts", "on"])
    static let requestHeaders = KeySet("routes[].request.headers", ["remove", "default", "set", "add"])
    static let authorization = KeySet("routes[].request.authorization", ["basic", "bearer"])
    static let basicAuthorization = KeySet("routes[].request.authorization.basic", ["username", "password"])
    static let requestJSON = KeySet("routes[].request.json", ["sorted_keys", "pretty"])
    static let requestPropertyList = KeySet("routes[].request.plist", ["format"])
    static let throttle = KeySet("routes[].request.throttle", ["packet", "delay"])
    static let response = KeySet(
        "routes[].response",
        [
            "headers", "status", "content_types", "structured_suffixes", "body", "remove_nulls", "max_body",
            "on_violation", "placeholder", "placeholder_after",
        ])
    static let responseHeaders = KeySet("routes[].response.headers", ["remove", "set", "add"])
    static let body = KeySet("routes[].response.body", ["json", "image"])
    static let bodyJSON = KeySet("routes[].response.body.json", ["fragments", "schema"])
    static let bodyImage = KeySet("routes[].response.body.image", ["max_pixels"])
    static let placeholder = KeySet("routes[].response.placeholder", ["file", "status", "failures"])
    static let recordings = KeySet("recordings", ["path", "bodies", "redact", "max_age"])
    static let replay = KeySet(
        "routes[].replay", ["mode", "tape", "match", "order", "miss", "refresh", "timing"])
    static let replayMatch = KeySet("routes[].replay.match", ["by", "ignore_query", "ignore_json", "headers"])
    static let simulation = KeySet("simulation", ["allow", "seed"])
    static let mock = KeySet(
        "routes[].mock[]", ["when", "status", "headers", "body", "json", "file", "delay", "openapi"])
    static let fault = KeySet(
        "routes[].faults[]",
        [
            "when", "delay", "throttle", "truncate", "status", "headers", "body", "json", "file", "reset", "limit",
            "contract",
        ])
    static let condition = KeySet(
        "routes[].faults[].when", ["methods", "paths", "headers", "first", "per", "rate"])
    static let latency = KeySet(
        "routes[].faults[].delay", ["min", "max", "mean", "deviation", "median", "p99"])
    static let truncate = KeySet("routes[].faults[].truncate", ["after"])
    static let limit = KeySet("routes[].faults[].limit", ["requests", "per"])

    /// Every map with fixed keys in the main file. Maps with keys that the user chooses (`trust`, header and parameter maps)
    /// are left out.
    package static let all: [KeySet] = [
        .top, .listenTLS, .engine, .log, .tracing, .capture, .isolation, .credential, .credentialGrant, .limits,
        .clients, .basicAuth,
        .destinations,
        .ask, .askWebhook, .requireSNIMatch, .allowedDestination, .deniedDestination, .list,
        .activity,
        .trust,
        .clientCertificate, .tunnels, .interception, .interceptionCA, .contract, .route, .respond, .cors, .forwarded,
        .routeContract, .upstreamProxy,
        .match, .request,
        .requestHeaders, .authorization, .basicAuthorization, .requestJSON, .requestPropertyList, .throttle, .retries,
        .response,
        .responseHeaders, .body, .bodyJSON, .bodyImage, .placeholder, .cache, .routeCache, .coalesce,
        .simulation, .mock, .fault, .condition, .latency, .truncate, .limit,
        .recordings, .replay, .replayMatch,
    ]

    /// The known key that `key` is most likely a slip of; nil if none is similar.
    func nearest(to key: String) -> String? { key.nearest(of: self.known) }
}
