// SPDX-License-Identifier: Apache-2.0

import Testing

extension CorpusTests {
    /// RFC 9112 §3.2: one Host, which has no weight beside an absolute target.
    struct Hosts {
        private static func hosts(_ lines: WireBytes, _ version: String = "1.1") -> WireBytes {
            "GET http://$/ HTTP/\(version)\r\n\(lines)\r\n"
        }

        static let refused: [WireCase] = [
            .refused("no Host", "contract §3.1", hosts("X-A: 1\r\n")),
            .refused("no field at all", "contract §3.1", hosts("")),
            .refused("two Hosts that are alike", "contract §3.1", hosts("Host: $\r\nHost: $\r\n")),
            .refused("two Hosts that differ", "contract §3.1", hosts("Host: $\r\nHost: evil.example\r\n")),
            .refused("two Hosts in different letters", "contract §3.1", hosts("Host: $\r\nX: 1\r\nhOST: $\r\n")),
            .refused("two Hosts on HTTP/1.0", "contract §3.1", hosts("Host: $\r\nHost: $\r\n", "1.0")),
            .refused("a list of hosts", "9112 §3.2", hosts("Host: $, evil.example\r\n")),
            .refused("two hosts with a space", "9112 §3.2", hosts("Host: $ evil.example\r\n")),
            .refused("a Host with a user", "9112 §3.2", hosts("Host: user@$\r\n")),
            .refused("a Host with a path", "9112 §3.2", hosts("Host: $/evil\r\n")),
            .refused("a Host with a query", "9112 §3.2", hosts("Host: $?evil\r\n")),
            .refused("a Host with a fragment", "9112 §3.2", hosts("Host: $#evil\r\n")),
            .refused("a Host with a scheme", "9112 §3.2", hosts("Host: http://$\r\n")),
            .refused("a Host with a backslash", "9112 §3.2", hosts("Host: $\\evil\r\n")),
            .refused("a Host in quotes", "9112 §3.2", hosts("Host: \"$\"\r\n")),
            .refused("a Host with a byte beyond ASCII", "9112 §3.2", hosts("Host: m\u{FC}nchen.example\r\n")),
            .refused("a Host with letters for a port", "9112 §3.2", hosts("Host: a.example:evil\r\n")),
            .refused("a Host with a port out of range", "9112 §3.2", hosts("Host: a.example:65536\r\n")),
            .refused("a Host with two ports", "9112 §3.2", hosts("Host: a.example:80:80\r\n")),
            .refused("a Host with an address in open brackets", "9112 §3.2", hosts("Host: [::1\r\n")),
            .refused("a folded Host", "9112 §5.2", hosts("Host:\r\n $\r\n")),
            .refused("a Host with a space before its colon", "9112 §5.1", hosts("Host : $\r\n")),
            .refused("a second Host behind a bare line feed", "9112 §2.2", hosts("Host: $\nHost: evil.example\r\n")),
            .refused("a second Host behind a bare carriage return", "9112 §2.2", hosts("Host: $\rHost: evil\r\n")),
        ]

        static let passed: [WireCase] = [
            .passed(
                "a Host that differs from the target loses", "contract §3.1", hosts("Host: other.example:81\r\n"),
                as: asked()),
            .passed("a Host with an address in brackets", "9112 §3.2", hosts("Host: [::1]:80\r\n"), as: asked()),
            .passed("a Host with an empty port", "3986 §6.2.3", hosts("Host: a.example:\r\n"), as: asked()),
            .passed("a Host without white space", "9112 §5.1", hosts("HOST:$\r\n"), as: asked()),
            .passed("a Host between tabs", "9112 §5.1", hosts("Host:\t$\t \r\n"), as: asked()),
            .passed(
                "a Host that is not the first field comes first", "9110 §7.2", hosts("X-A: 1\r\nHost: $\r\n"),
                as: asked("GET", "/", "X-A: 1\r\n")),
            .passed(
                "a host in Forwarded or X-Forwarded-Host is not the Host", "9112 §3.2",
                hosts("X-Forwarded-Host: evil\r\nHost: $\r\nForwarded: host=evil\r\n"),
                as: asked("GET", "/", "X-Forwarded-Host: evil\r\nForwarded: host=evil\r\n")),
            WireCase(
                "an HTTP/1.0 request without Host gets one", "9112 §3.2", connections: 1,
                [
                    .client(hosts("", "1.0")),
                    .seen("GET / HTTP/1.1\r\nHost: $\r\nVia: 1.0 pintle\r\n\r\n"), .origin(ok("mine")),
                    .answer("HTTP/1.1 200 OK\r\nVia: 1.1 pintle\r\nContent-Length: 4\r\nConnection: close\r\n\r\nmine"),
                    .closed,
                ]),
            .passed(
                "an empty Host beside a target with an authority", "9112 §3.2.2", hosts("Host:\r\n"), as: asked()),
        ]

        @Test(arguments: Self.refused + Self.passed) func host(_ test: WireCase) throws { try test.play() }
    }
}
