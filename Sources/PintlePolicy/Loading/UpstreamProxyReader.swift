// SPDX-License-Identifier: Apache-2.0

private import PintleMessage
private import PintleSerialization
private import PintleSession

/// Reads `upstream_proxy`: a map, or `env` for the proxies that the environment names.
///
/// Messages never show a URL that may have a credential in it.
struct UpstreamProxyReader {
    private let node: StrictNode

    /// Reads the configuration; `.some(nil)` if there is no upstream proxy, nil if something is wrong.
    static func read(_ node: StrictNode) -> UpstreamProxyConfiguration?? {
        if node.isOff || node.isNull { return .some(nil) }
        let reader = UpstreamProxyReader(node: node)
        if node.isScalar("env") { return reader.readEnvironment().map { .some($0) } }
        guard node.isMap else {
            node.report("must be a map with the key url, env for the environment's proxies, or off")
            return nil
        }
        return node.map(.upstreamProxy).flatMap(reader.readMap).map { .some($0) }
    }

    private func readMap(_ map: StrictMap) -> UpstreamProxyConfiguration? {
        guard let url = map["url"] else {
            map.node.report("the key \"url\" is missing: the parent, as in http://proxy.example:3128")
            return nil
        }
        guard let text = url.nonEmptyString() else { return nil }
        guard !text.contains("@") else {
            url.report("a proxy's URL has no user information; give it as username and password, from env: or file:")
            return nil
        }
        var server: ProxyServer
        do throws(Malformed) {
            server = try ProxyServer(url: text, defaultPort: nil)
        } catch {
            url.report("\(url.quoted): \(error.reason)")
            return nil
        }
        if map["username"] != nil || map["password"] != nil {
            guard let credential = self.readCredential(map, for: server.scheme) else { return nil }
            server.credential = credential
        }
        let parent = UpstreamProxyConfiguration.Parent(server: server, source: "upstream_proxy.url")
        var configuration = UpstreamProxyConfiguration(position: self.node.position)
        configuration.http = parent
        configuration.https = parent
        map.read("no_proxy", into: &configuration.exceptions) { node in node.hostPatterns().map { .patterns($0) } }
        return configuration
    }

    private func readCredential(_ map: StrictMap, for scheme: ProxyServer.Scheme) -> Credential? {
        for key in ["username", "password"] where map[key] == nil {
            map.node.report("the key \"\(key)\" is missing; a credential is username and password")
        }
        guard let user = map["username"]?.nonEmptyString(), let password = map["password"]?.string() else { return nil }
        do throws(Malformed) {
            return try Self.credential(user, password, for: scheme)
        } catch {
            map.node.report(error.reason)
            return nil
        }
    }

    private static func credential(
        _ user: String, _ password: String, for scheme: ProxyServer.Scheme
    ) throws(Malformed) -> Credential {
        // SOCKS gives the length of each in one byte (RFC 1929 §2).
        if scheme == .socks5, max(user.utf8.count, password.utf8.count) > 255 {
            throw Malformed("a user name or password for SOCKS has at most 255 bytes")
        }
        do throws(SerializationError) {
            let credential = try Credential(user: user, password: password)
            if scheme != .socks5 { _ = try credential.basicAuthorization() }
            return credential
        } catch {
            throw Malformed(error.message)
        }
    }

    // MARK: The environment

    private func readEnvironment() -> UpstreamProxyConfiguration? {
        var configuration = UpstreamProxyConfiguration(position: self.node.position)
        // HTTP_PROXY is ignored: if a web server sets up the environment, a request's field Proxy becomes that variable.
        guard let http = self.parent(["http_proxy", "all_proxy", "ALL_PROXY"]),
            let https = self.parent(["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])
        else { return nil }
        configuration.http = http
        configuration.https = https
        if let (name, text) = self.variable(["no_proxy", "NO_PROXY"]) {
            configuration.exceptions = .environment(EnvironmentExceptions(text, variable: name))
        }
        return configuration
    }

    /// The first of `names` that is set and not empty.
    private func variable(_ names: [String]) -> (name: String, text: String)? {
        let environment = self.node.context.surroundings.environment
        for name in names {
            if let text = environment[name], !text.isEmpty { return (name, text) }
        }
        return nil
    }

    /// Reads the upstream proxy that a variable names; `.some(nil)` if none is set, nil if something is wrong with it.
    private func parent(_ names: [String]) -> UpstreamProxyConfiguration.Parent?? {
        guard let (name, text) = self.variable(names) else { return .some(nil) }
        do throws(Malformed) {
            let (userinfo, rest) = Self.separated(text)
            var server = try ProxyServer(url: rest, defaultPort: Self.curlsPort)
            if let userinfo { server.credential = try Self.credential(of: userinfo, for: server.scheme) }
            return UpstreamProxyConfiguration.Parent(server: server, source: name)
        } catch {
            self.node.report("the environment's \(name): \(error.reason)")
            return nil
        }
    }

    /// curl's port for a proxy if neither the variable nor the scheme has one.
    private static let curlsPort: UInt16 = 1080

    /// Separates the user information from the URL. A URL without a scheme is an http URL.
    private static func separated(_ text: String) -> (userinfo: Substring?, rest: String) {
        let (scheme, rest): (Substring, Substring)
        if let mark = text.firstRange(of: "://") {
            (scheme, rest) = (text[..<mark.lowerBound], text[mark.upperBound...])
        } else {
            (scheme, rest) = ("http", text[...])
        }
        let end = rest.firstIndex(of: "/") ?? rest.endIndex
        guard let at = rest[..<end].lastIndex(of: "@") else { return (nil, "\(scheme)://\(rest)") }
        return (rest[..<at], "\(scheme)://\(rest[rest.index(after: at)...])")
    }

    private static func credential(
        of userinfo: Substring, for scheme: ProxyServer.Scheme
    ) throws(Malformed) -> Credential {
        let parts = userinfo.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(Self.decoded)
        guard let user = parts[0], !user.isEmpty, let password = parts.count == 2 ? parts[1] : "" else {
            throw Malformed("its user information is not percent-encoded UTF-8 with a user name")
        }
        return try Self.credential(user, password, for: scheme)
    }

    private static func decoded(_ text: Substring) -> String? {
        PercentEscaping.unescape(text.utf8).flatMap { String(validating: $0, as: UTF8.self) }
    }
}

extension ProxyServer {
    /// Reads `http://host:port`, also with https, socks5 and socks5h.
    ///
    /// - Parameter defaultPort: the port if neither the URL nor the scheme has one.
    fileprivate init(url: String, defaultPort: UInt16?) throws(Malformed) {
        let form = "a proxy is http://, https://, socks5:// or socks5h:// with host and port"
        guard let mark = url.firstRange(of: "://") else { throw Malformed(form) }
        let (scheme, ownPort): (ProxyServer.Scheme, UInt16?) =
            switch url[..<mark.lowerBound].lowercased() {
            case "http": (.http, nil)
            case "https": (.https, 443)
            // In curl, the h means that the proxy resolves names; here the proxy always does.
            case "socks5", "socks5h": (.socks5, 1080)
            default: throw Malformed(form)
            }
        var rest = url[mark.upperBound...]
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard let authority = Authority(rest, defaultPort: ownPort ?? defaultPort) else {
            let hasPort = Authority(rest, defaultPort: 1) == nil
            throw Malformed(hasPort ? form : "the port is missing, as in http://proxy.example:3128")
        }
        self.init(authority, scheme: scheme)
    }
}
