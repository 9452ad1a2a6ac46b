// SPDX-License-Identifier: Apache-2.0

import Testing

extension CorpusTests {
    /// RFC 9112 §3.2, RFC 3986 §3: the target of a request, and the server that it names.
    struct Targets {
        private static func to(_ target: WireBytes, _ method: String = "GET") -> WireBytes {
            "\(method) \(target) HTTP/1.1\r\nHost: $\r\n\r\n"
        }

        static let refused: [WireCase] = [
            .refused("a user", "contract §3.1", to("http://user@$/")),
            .refused("a user and a password", "contract §3.1", to("http://user:secret@$/")),
            .refused("empty user information", "contract §3.1", to("http://@$/")),
            .refused("a host before the at sign", "contract §3.1", to("http://good.example:80@$/")),
            .refused("a fragment", "contract §3.1", to("http://$/#part")),
            .refused("an empty fragment", "contract §3.1", to("http://$/#")),
            .refused("a fragment behind the host", "contract §3.1", to("http://$#@evil.example/")),
            .refused("no host", "9110 §4.2.1", to("http:///path")),
            .refused("only a port", "9110 §4.2.1", to("http://:£/")),
            .refused("only a scheme", "9110 §4.2.1", to("http://")),
            .refused("one slash behind the scheme", "9112 §3.2.2", to("http:/$/")),
            .refused("no slashes behind the scheme", "9112 §3.2.2", to("http:$/")),
            .refused("a backslash for a slash", "9112 §3.2.2", to("http:\\\\$/")),
            .refused("a backslash in the authority", "3986 §3.2", to("http://$\\@evil.example/")),
            .refused("a semicolon in the authority", "3986 §3.2", to("http://127.0.0.1;evil:£/")),
            .refused("a comma in the authority", "3986 §3.2", to("http://$,evil.example/")),
            .refused("an escaped slash in the host", "3986 §3.2.2", to("http://127.0.0.1%2f:£/")),
            .refused("an escaped letter in the host", "3986 §3.2.2", to("http://%6cocalhost:£/")),
            .refused("a host that begins with a dot", "3986 §3.2.2", to("http://.127.0.0.1:£/")),
            .refused("a host that ends with two dots", "3986 §3.2.2", to("http://127.0.0.1..:£/")),
            .refused(
                "a host of 254 bytes", "1035 §2.3.4", to("http://\(WireBytes(String(repeating: "a", count: 254))):£/")),
            .refused("port 0", "3986 §3.2.3", to("http://127.0.0.1:0/")),
            .refused("port 65536", "3986 §3.2.3", to("http://127.0.0.1:65536/")),
            .refused("a port of six digits", "3986 §3.2.3", to("http://127.0.0.1:000080/")),
            .refused("a port with a sign", "3986 §3.2.3", to("http://127.0.0.1:+£/")),
            .refused("a negative port", "3986 §3.2.3", to("http://127.0.0.1:-1/")),
            .refused("a port with letters", "3986 §3.2.3", to("http://127.0.0.1:http/")),
            .refused("two ports", "3986 §3.2.3", to("http://127.0.0.1:£:£/")),
            .refused("an IPv6 address without brackets", "3986 §3.2.2", to("http://::1:£/")),
            .refused("brackets that do not close", "3986 §3.2.2", to("http://[::1:£/")),
            .refused("empty brackets", "3986 §3.2.2", to("http://[]:£/")),
            .refused("an IPv4 address in brackets", "3986 §3.2.2", to("http://[127.0.0.1]:£/")),
            .refused("letters behind the brackets", "3986 §3.2.2", to("http://[::1]x:£/")),
            .refused("a zone of an IPv6 address", "6874 §4", to("http://[::1%25lo]:£/")),
            .refused("too many colons in brackets", "3986 §3.2.2", to("http://[:::1]:£/")),
            .refused("nine groups in brackets", "3986 §3.2.2", to("http://[1:2:3:4:5:6:7:8:9]:£/")),
            .refused("a group of five digits", "3986 §3.2.2", to("http://[::00001]:£/")),
            .refused("another scheme", "9112 §3.2.2", to("ftp://$/")),
            .refused("a scheme that only begins so", "9112 §3.2.2", to("httpx://$/")),
            .refused("a WebSocket's scheme", "9112 §3.2.2", to("ws://$/")),
            .refused("a relative target", "9112 §3.2", to("path")),
            .refused("a host and port for another method than CONNECT", "9112 §3.2.3", to("$")),
            .refused("an asterisk for GET", "contract §3.1", to("*")),
            .refused("an asterisk for a method in lower case", "contract §3.1", to("*", "options")),
            .refused("two asterisks", "9112 §3.2.4", to("**", "OPTIONS")),
            WireCase(
                "a path without a gateway route", "contract §3.1", connections: 0,
                [.client(to("/")), .problem(400, "bad-request")]),
            WireCase(
                "a path that looks like an authority", "contract §3.1", connections: 0,
                [.client(to("//$/")), .problem(400, "bad-request")]),
            .refused("a byte beyond ASCII in the path", "3986 §3.3", to("http://$/\u{E4}")),
            .refused("NUL in the path", "3986 §3.3", to("http://$/\0evil")),
            .refused("a tab in the path", "3986 §3.3", to("http://$/a\tb")),
            .refused("DEL in the path", "3986 §3.3", to("http://$/\u{7F}")),
            .refused("an escape character in the path", "3986 §3.3", to("http://$/\u{1B}[0m")),
        ]

        static let passed: [WireCase] = [
            .passed("a target without a path asks for the root", "9110 §4.2.3", to("http://$"), as: asked()),
            .passed("a query without a path", "9110 §4.2.3", to("http://$?a=b"), as: asked("GET", "/?a=b")),
            .passed("a question mark without a path", "9110 §4.2.3", to("http://$?"), as: asked("GET", "/?")),
            .passed(
                "a query that looks like a URL", "3986 §3.4", to("http://$/?u=http://a@b/?c"),
                as: asked("GET", "/?u=http://a@b/?c")),
            .passed("an at sign in the path is no user", "3986 §3.3", to("http://$/@a:b"), as: asked("GET", "/@a:b")),
            .passed("dot segments stay", "9110 §7.7", to("http://$/a/../b/./c/.."), as: asked("GET", "/a/../b/./c/..")),
            .passed("two slashes stay two", "9110 §7.7", to("http://$//a///b"), as: asked("GET", "//a///b")),
            .passed(
                "escapes stay as they are", "9110 §7.7", to("http://$/%7e%7E%2f%00%0d%0a"),
                as: asked("GET", "/%7e%7E%2f%00%0d%0a")),
            .passed(
                "escaped line ends stay escaped", "9112 §11.1", to("http://$/%0D%0AX-Evil:%201"),
                as: asked("GET", "/%0D%0AX-Evil:%201")),
            .passed(
                "what is no escape is the origin's business", "9110 §7.7", to("http://$/%zz%"),
                as: asked("GET", "/%zz%")),
            .passed(
                "visible bytes that should be escaped stay", "9110 §7.7", to("http://$/a|b{c}\"<>^`\\"),
                as: asked("GET", "/a|b{c}\"<>^`\\")),
            .passed("a scheme in upper case", "3986 §3.1", to("HTTP://$/"), as: asked()),
            .passed(
                "a dot at the end of the host only says that it is whole", "1034 §3.1", to("http://127.0.0.1.:£/"),
                as: asked()),
        ]

        @Test(arguments: Self.refused + Self.passed) func target(_ test: WireCase) throws { try test.play() }
    }
}
