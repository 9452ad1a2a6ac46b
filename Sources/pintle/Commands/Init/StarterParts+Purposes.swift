// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy

extension StarterParts {
    // MARK: A build

    static func build(_ starter: Starter) -> StarterParts {
        let presets = starter.subjects.filter { $0.hasPrefix("preset:") }
        let names = starter.subjects.filter { !$0.hasPrefix("preset:") }
        var rules = [
            "# The build reaches what is named here, and nothing else. All of it is in the summary of `pintle run`."
        ]
        if !presets.isEmpty {
            rules.append("# Lists of hosts that come with the program; `pintle check --presets` prints them.")
            rules.append("include: \(presets.asYAML)")
        }
        rules += [
            "destinations:", "  default: deny", "  # More hosts, as in \"api.example.com\" or \"*.example.com:443\":",
            "  allow: \(names.asYAML)",
            "  # Names that no rule names are not even looked up.", "  resolve: off", "",
            "# Nothing is decrypted. To see and judge the requests inside https, too:",
            "# interception: {hosts: [\"api.example.com\"]}",
        ]
        let namesAll = names.contains("*") || names.contains("*:80")
        var tests = [
            namesAll
                ? Self.test("every host is reached", "{url: \"http://anywhere.invalid/\"}", "{decision: allow}")
                : Self.test(
                    "a host that is not named is refused", "{url: \"http://not-named.invalid/\"}",
                    "{decision: deny, rule: destinations.default, problem: destination-denied}")
        ]
        if let url = starter.hosts.lazy.compactMap(Self.url).first {
            tests.append(Self.test("a host that is named is reached", "{url: \(url.asYAML)}", "{decision: allow}"))
        }
        return StarterParts(rules: rules.joined(separator: "\n"), tests: tests.joined(separator: "\n\n"))
    }

    /// Returns a URL that a pattern allows; nil if it names no single host.
    private static func url(of pattern: String) -> String? {
        guard !pattern.contains("*"), !pattern.contains("/"), let host = Authority(pattern, defaultPort: 443) else {
            return nil
        }
        return host.port == 80 ? "http://\(host.description(for: .http))/" : "https://\(host.description(for: .https))/"
    }

    // MARK: A gateway

    static func gateway(_ starter: Starter) -> StarterParts {
        let upstream = starter.subjects.first ?? ""
        let service = try? HTTPURL(upstream)
        let listener = try? ListenAddress(starter.listen)
        let names = Self.names(of: listener)
        let host = listener?.port.map { "localhost:\($0)" } ?? "localhost"
        let clients = """
            # Clients of this machine alone; name the networks of others who may use the gateway:
            # clients: {allow: ["127.0.0.0/8", "10.0.0.0/8"]}
            """
        let rules = """
            # Requests to this address go to the service. More services: a route for each, told apart by `paths` or `hosts`; the first
            # route that matches decides.
            routes:
              - name: service
                match: {hosts: \(names.asYAML), paths: ["/**"]}
                upstream: \(upstream.asYAML)
                request: {timeout: 60s}

            # Nothing but the service, even if a route is wrong.
            destinations:
              default: deny
              allow: \((service.map { [$0.authority.description] } ?? []).asYAML)
              # The service may be on this machine, or in its network.
              private_addresses: allow
              # Names that no rule names are not even looked up.
              resolve: off
            """
        let base = service.map(\.description) ?? ""
        let target = "\(base.hasSuffix("/") ? String(base.dropLast()) : base)/status?x=1"
        var tests = [
            Self.test(
                "requests go to the service", "{url: \"http://\(host)/status?x=1\", mode: gateway}",
                "{route: service, upstream: \(target.asYAML)}")
        ]
        // The names may be all names.
        if let port = listener?.port, port != 443 {
            tests.append(
                Self.test(
                    "nothing else is reached", "{url: \"https://elsewhere.example/\"}",
                    "{decision: deny, problem: destination-denied}"))
        }
        let parts = listener?.isExposed == true ? [clients, rules] : [rules]
        return StarterParts(rules: parts.joined(separator: "\n\n"), tests: tests.joined(separator: "\n\n"))
    }

    /// Returns the names by which clients reach a listener: any name if they come from other machines, or by a socket.
    private static func names(of listener: ListenAddress?) -> [String] {
        guard let listener, let port = listener.port else { return ["*"] }
        guard !listener.isExposed, case .address(let address, _) = listener.place else { return ["*:\(port)"] }
        return ["localhost:\(port)", address.family == .v6 ? "[\(address)]:\(port)" : "\(address):\(port)"]
    }

    // MARK: An audit

    static func audit(_ starter: Starter) -> StarterParts {
        let rules = """
            # `pintle audit` connects to each of these hosts, and judges the certificates that it shows.
            trust:
              default: {roots: system}
              watched:
                hosts: \(starter.subjects.asYAML)
                pinning: none
                # `pintle pins show HOST` prints the pins of a host. Pin two keys, of which one is kept as a backup:
                # pinning: public_key
                # pins: ["sha256/…", "sha256/…"]
                # In the beginning a mismatch may only be reported:
                # enforcement: report
            """
        var tests = [
            Self.test(
                "other hosts are judged by the default", "{url: \"https://elsewhere.example/\"}", "{trust: default}")
        ]
        if let url = starter.subjects.lazy.compactMap(Self.url).first {
            tests.insert(
                Self.test(
                    "the hosts are judged by their policy", "{url: \(url.asYAML)}", "{decision: allow, trust: watched}"),
                at: 0)
        }
        return StarterParts(rules: rules, tests: tests.joined(separator: "\n\n"))
    }

    // MARK: A team

    static func team(_ starter: Starter) -> StarterParts {
        let rules = """
            # Clients of other networks are refused.
            clients:
              allow: \(starter.subjects.asYAML)
              # To have them prove who they are, with a file that `htpasswd -B -c users.htpasswd NAME` writes:
              # basic_auth: {realm: pintle, users: users.htpasswd}

            destinations:
              # deny: ["*.ads.example"]
              # The networks around this machine are not for clients of the proxy.
              private_addresses: deny
              connect_ports: [443]

            # Hosts that must show a certain key, for every client:
            # trust:
            #   payments: {hosts: ["api.pay.example"], pinning: public_key, pins: ["sha256/…", "sha256/…"]}
            """
        let networks = starter.subjects.compactMap { try? CIDR($0) }
        let member = (starter.subjects.first ?? "").split(separator: "/").first.map(String.init) ?? ""
        var tests = [
            Self.test(
                "the team reaches the web", "{url: \"http://www.example.com/\", client: {address: \(member.asYAML)}}",
                "{decision: allow}"),
            Self.test(
                "clients do not reach the networks around this machine",
                "{url: \"http://169.254.169.254/\", client: {address: \(member.asYAML)}}",
                "{decision: deny, problem: destination-denied}"),
            Self.test(
                "tunnels are for https",
                "{method: CONNECT, url: \"mail.example:25\", client: {address: \(member.asYAML)}}",
                "{decision: deny, problem: destination-denied}"),
        ]
        if let stranger = IPAddress("203.0.113.7"), !networks.contains(where: { $0.contains(stranger) }) {
            tests.append(
                Self.test(
                    "others are refused", "{url: \"http://www.example.com/\", client: {address: \"203.0.113.7\"}}",
                    "{decision: deny, problem: client-denied}"))
        }
        return StarterParts(rules: rules, tests: tests.joined(separator: "\n\n"))
    }

    private static func test(_ name: String, _ request: String, _ demands: String) -> String {
        "- name: \(name)\n  request: \(request)\n  expect: \(demands)"
    }
}

extension ListenAddress {
    /// The port that clients know; nil for a Unix socket, and for a port that the system picks.
    fileprivate var port: UInt16? {
        guard case .address(_, let port) = self.place, port > 0 else { return nil }
        return port
    }
}
