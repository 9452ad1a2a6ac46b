// SPDX-License-Identifier: Apache-2.0

/// The directives of squid.conf that are not converted.
enum SquidDirectives {
    /// Those that change nothing about permissions, and those whose matter Pintle treats so by itself.
    private static let harmless: Set<String> = [
        "access_log", "acl", "append_domain", "buffered_logs", "cache_dir", "cache_effective_group",
        "cache_effective_user", "cache_log", "cache_mem", "cache_mgr", "cache_replacement_policy", "cache_store_log",
        "cache_swap_high", "cache_swap_low", "chroot", "client_db", "client_lifetime", "connect_timeout",
        "coredump_dir",
        "debug_options", "dns_defnames", "dns_nameservers", "dns_packet_max", "dns_retransmit_interval", "dns_timeout",
        "dns_v4_first", "email_err_data", "err_html_text", "error_default_language", "error_directory", "forwarded_for",
        "ftp_passive", "ftp_user", "half_closed_clients", "hierarchy_stoplist", "host_verify_strict", "hosts_file",
        "htcp_access", "htcp_port", "httpd_suppress_version_string", "icon_directory", "icp_access", "icp_port",
        "ignore_unknown_nameservers", "ipcache_high", "ipcache_low", "ipcache_size", "log_icp_queries", "log_mime_hdrs",
        "logfile_daemon", "logfile_rotate", "logformat", "max_filedescriptors", "max_filedesc",
        "maximum_object_size", "maximum_object_size_in_memory", "memory_cache_mode", "memory_pools",
        "memory_replacement_policy", "minimum_object_size", "negative_dns_ttl", "negative_ttl", "netdb_filename",
        "persistent_request_timeout", "pid_filename", "pinger_enable", "pipeline_prefetch", "positive_dns_ttl",
        "quick_abort_max", "quick_abort_min", "quick_abort_pct", "range_offset_limit", "read_timeout",
        "refresh_pattern",
        "request_timeout", "server_persistent_connections", "client_persistent_connections", "shutdown_lifetime",
        "snmp_access", "snmp_port", "store_avg_object_size", "strip_query_terms", "uri_whitespace", "unique_hostname",
        "unlinkd_program", "useragent_log", "visible_hostname", "wccp2_router", "workers",
    ]

    /// Directives with a counterpart that is written by hand.
    private static let counterparts: [String: (ConversionRemark.Effect, String)] = [
        "cache_peer": (.weaker, "requests go to their origins directly; name the parent with upstream_proxy"),
        "never_direct": (.weaker, "requests go to their origins directly; name the parent with upstream_proxy"),
        "always_direct": (.leftOut, "upstream_proxy has no_proxy for hosts that are reached directly"),
        "https_port": (.leftOut, "add https://ADDR:PORT to listen, and listen_tls with the certificate"),
        "tls_outgoing_options": (.weaker, "trust.default has roots, min_tls and client_certificate"),
        "sslproxy_cert_error": (.leftOut, "origins must prove themselves, unless a trust policy says otherwise"),
        "ssl_bump": (
            .weaker, "name intercepted hosts in interception.hosts; others are relayed or verified (tunnels.verify)"
        ),
        "include": (.weaker, "included files are not followed; paste their lines in its place"),
        "cache": (.leftOut, "nothing is kept without a route's cache"),
        "request_header_access": (.weaker, "a route's request.headers.remove takes fields away"),
        "request_header_replace": (.weaker, "a route's request.headers.set replaces fields"),
        "reply_header_access": (.weaker, "a route's response.headers.remove takes fields away"),
        "request_body_max_size": (.weaker, "Pintle streams bodies of any size, unless a rule needs the whole body"),
        "reply_body_max_size": (.weaker, "a route's response.max_body limits the body of a response"),
        "http_reply_access": (.weaker, "a route's response has status and content_types"),
        "deny_info": (.leftOut, "a denial may have a reason: destinations.deny: [{host: …, reason: …}]"),
        "delay_pools": (.weaker, "a route's request.throttle slows bodies down; there are no pools"),
    ]

    /// The remark on a directive; nil if it needs none.
    static func remark(_ name: String) -> (effect: ConversionRemark.Effect, words: String)? {
        if let (effect, words) = Self.counterparts[name] { return (effect, words) }
        return Self.harmless.contains(name) ? nil : (.weaker, "it is not carried, and may restrict clients")
    }
}
