// SPDX-License-Identifier: Apache-2.0

import Testing

extension CorpusTests {
    /// RFC 9112 §3: a line has one reading, or none.
    struct RequestLine {
        private static func line(_ line: WireBytes) -> WireBytes { "\(line)\r\nHost: $\r\n\r\n" }

        static let refused: [WireCase] = [
            .refused("two spaces behind the method", "9112 §3", line("GET  http://$/ HTTP/1.1")),
            .refused("two spaces before the version", "9112 §3", line("GET http://$/  HTTP/1.1")),
            .refused("a space in front", "9112 §3", line(" GET http://$/ HTTP/1.1")),
            .refused("a space at the end", "9112 §3", line("GET http://$/ HTTP/1.1 ")),
            .refused("tabs between the parts", "9112 §3", line("GET\thttp://$/\tHTTP/1.1")),
            .refused("a vertical tab between the parts", "9112 §3", line("GET\u{B}http://$/ HTTP/1.1")),
            .refused("a form feed between the parts", "9112 §3", line("GET http://$/\u{C}HTTP/1.1")),
            .refused("a bare carriage return between the parts", "9112 §2.2", line("GET http://$/\rHTTP/1.1")),
            .refused("a bare carriage return at the end", "9112 §2.2", line("GET http://$/ HTTP/1.1\r")),
            .refused("no target", "9112 §3", line("GET HTTP/1.1")),
            .refused("no method", "9112 §3", line("http://$/ HTTP/1.1")),
            .refused("an empty method", "9112 §3", line(" http://$/ HTTP/1.1")),
            .refused("only a method", "9112 §3", line("GET")),
            .refused("no version, as in HTTP/0.9", "9112 §3", "GET http://$/\r\n\r\n"),
            .refused("a space in the target", "9112 §3.2", line("GET http://$/a b HTTP/1.1")),
            .refused("a second request in the target", "9112 §3.2", line("GET http://$/ HTTP/1.1 GET /evil HTTP/1.1")),
            .refused("a method with a colon", "9110 §9.1", line("GET: http://$/ HTTP/1.1")),
            .refused("a method with a quote", "9110 §9.1", line("\"GET\" http://$/ HTTP/1.1")),
            .refused("a method with a slash", "9110 §9.1", line("GE/T http://$/ HTTP/1.1")),
            .refused("a method with NUL", "9110 §9.1", line("GE\u{0}T http://$/ HTTP/1.1")),
            .refused("a method beyond ASCII", "9110 §9.1", line("G\u{CB}T http://$/ HTTP/1.1")),
            .refused("a mark of byte order", "9112 §2.2", line("\u{EF}\u{BB}\u{BF}GET http://$/ HTTP/1.1")),
            .refused(
                "a method of 65 bytes", "9110 §9.1", line("\(String(repeating: "M", count: 65)) http://$/ HTTP/1.1")),
            .refused("a version in lower case", "9112 §2.3", line("GET http://$/ http/1.1")),
            .refused("a version with two minor digits", "9112 §2.3", line("GET http://$/ HTTP/1.10")),
            .refused("a version with two major digits", "9112 §2.3", line("GET http://$/ HTTP/01.1")),
            .refused("a version without a minor number", "9112 §2.3", line("GET http://$/ HTTP/1")),
            .refused("a version with an empty minor number", "9112 §2.3", line("GET http://$/ HTTP/1.")),
            .refused("a version with a letter", "9112 §2.3", line("GET http://$/ HTTP/1.1x")),
            .refused("a version with a comma", "9112 §2.3", line("GET http://$/ HTTP/1,1")),
            .refused("a version with a sign", "9112 §2.3", line("GET http://$/ HTTP/+1.1")),
            .refused("another protocol", "9112 §2.3", line("GET http://$/ HTTPS/1.1")),
            .refused("a space within the version", "9112 §2.3", line("GET http://$/ HTTP/ 1.1")),
            .refused("a bare line feed behind the line", "9112 §2.2", "GET http://$/ HTTP/1.1\nHost: $\r\n\r\n"),
            .refused("bare line feeds only", "9112 §2.2", "GET http://$/ HTTP/1.1\nHost: $\n\n"),
            .refused("an empty line that is a bare line feed", "9112 §2.2", "GET http://$/ HTTP/1.1\r\nHost: $\r\n\n"),
            .refused("a line feed in front", "9112 §2.2", line("\nGET http://$/ HTTP/1.1")),
            .refused("a bare carriage return in front", "9112 §2.2", line("\rGET http://$/ HTTP/1.1")),
            .refused("white space behind an empty line in front", "9112 §2.2", line("\r\n GET http://$/ HTTP/1.1")),
            .refused("three empty lines in front", "9112 §2.2", line("\r\n\r\n\r\nGET http://$/ HTTP/1.1")),
            .refused("a handshake of TLS", "9112 §3", "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}\u{FC}\u{3}\u{3}\r\n\r\n"),
            .refused("a greeting of SSH", "9112 §3", "SSH-2.0-OpenSSH_9.2p1\r\n\r\n"),
            .refused("HTTP/2.0 in text", "contract §3.1", line("GET http://$/ HTTP/2.0"), 505),
            .refused("HTTP/3.0 in text", "contract §3.1", line("GET http://$/ HTTP/3.0"), 505),
            .refused("HTTP/0.9 by number", "contract §3.1", line("GET http://$/ HTTP/0.9"), 505),
            .refused("HTTP/9.9", "contract §3.1", line("GET http://$/ HTTP/9.9"), 505),
            .refused("the preface of HTTP/2", "9113 §3.4", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        ]

        static let passed: [WireCase] = [
            .passed("HTTP/1.2 is read as HTTP/1.1", "9110 §2.5", line("GET http://$/ HTTP/1.2"), as: asked()),
            .passed("HTTP/1.9 is read as HTTP/1.1", "9110 §2.5", line("GET http://$/ HTTP/1.9"), as: asked()),
            .passed("a method in lower case is another method", "9110 §9.1", ask("get"), as: asked("get")),
            .passed(
                "a method of all that a token may be", "9110 §5.6.2", ask("!#%&'*+-.^_`|~09aZ"),
                as: asked("!#%&'*+-.^_`|~09aZ")),
            .passed(
                "a method of 64 bytes", "9110 §9.1", ask(String(repeating: "M", count: 64)),
                as: asked(String(repeating: "M", count: 64))),
            .passed("an empty line in front is passed over", "9112 §2.2", "\r\n\(ask())", as: asked()),
            .passed("two empty lines in front are passed over", "9112 §2.2", "\r\n\r\n\(ask())", as: asked()),
        ]

        @Test(arguments: Self.refused + Self.passed) func requestLine(_ test: WireCase) throws { try test.play() }
    }
}
