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
        var tests = [
            Self.test(
                "a host that is not named is refused", "{url: \"http://not-named.example/\"}",
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
        let place = Authority(starter.listen, defaultPort: 80)
        let names = place.map { ["localhost:\($0.port)", $0.description] } ?? []
        let host = names.first ?? "localhost"
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
        let tests = [
            Self.test(
                "requests go to the service", "{url: \"http://\(host)/status?x=1\", mode: gateway}",
                "{route: service, upstream: \(target.asYAML)}"),
            Self.test(
                "nothing else is reached", "{url: \"http://elsewhere.example/\"}",
                "{decision: deny, problem: destination-denied}"),
        ]
        return StarterParts(rules: rules, tests: tests.joined(separator: "\n\n"))
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
