// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleTesting
import PintleTrust
import Testing

/// `pintle run --learn`: the written configuration lets the same command pass again, and hardly any other.
struct RunLearnTests {
    private let site: PrivateSite

    /// A small service: its answers depend on the query, which no rule looks at.
    private static let service = """
        location ~ ^/users/[0-9]+$ {
            default_type application/json;
            if ($arg_as = error) { return 500 '{"error":"all"}'; }
            if ($arg_as = shape) { return 200 '{"id":"one"}'; }
            if ($arg_as = page) { add_header X-Page yes; return 200 '{"id":1,"broken"'; }
            if ($request_method = POST) { return 201 '{"id":1}'; }
            return 200 '{"id":1,"name":"Joe Private","tags":["a"],"keys":{"4711":true}}';
        }

        """

    init() throws {
        self.site = try PrivateSite(locations: Self.service)
        try self.site.folder.write(
            "version: 1\ntrust: {site: {hosts: [localhost], roots: [root.pem]}}\n",
            to: "pintle.yaml")
    }

    private var https: String { "https://localhost:\(self.site.origin.httpsPort)" }
    private var http: String { "http://127.0.0.1:\(self.site.origin.httpPort)" }

    private func run(_ options: [String], _ command: [String]) throws -> ChildProcess {
        try PintleProcess.run(
            ["run"] + options + ["--"] + command,
            environment: [
                "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "HOME": self.site.folder.path,
                "TMPDIR": self.site.folder.path,
            ], folder: self.site.folder.path)
    }

    /// A shell command that calls curl with each of these arguments.
    private func curls(_ requests: [String]) -> [String] {
        ["sh", "-c", requests.map { "curl --silent --show-error --output /dev/null \($0)" }.joined(separator: "; ")]
    }

    private func learnt(_ name: String = "learnt.yaml") -> String {
        String(decoding: fileBytes("\(self.site.folder.path)/\(name)") ?? [], as: UTF8.self)
    }

    private func names(in folder: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(self.site.folder.path)/\(folder)").sorted()
    }

    @Test func `the same command passes again, and another one does not`() throws {
        let command = self.curls([
            "'\(self.https)/users/123?token=s3cretQuery' -H 'Authorization: Bearer s3cretField' --user-agent s3cretAgent",
            "'\(self.https)/users/45' --compressed", "\(self.https)/users/7 --request POST --data s3cretBody",
            "\(self.https)/status/404", "\(self.https)/status/204", "\(self.http)/html", "\(self.http)/files/8421.txt",
            "\(self.http)/hello --head",
        ])
        let learning = try self.run(["--learn", "learnt.yaml"], command)
        #expect(learning.exitCode == 0, "\(learning.lines)")
        let text = self.learnt()
        #expect(
            learning.errors.last
                == "learnt: 2 hosts, 6 routes, 3 schemas → learnt.yaml; read it before you use it: pintle check -c learnt.yaml",
            "\(text)")
        #expect(text.contains("paths: [\"/users/*\"]") && text.contains("paths: [\"/files/*.txt\"]"))
        #expect(text.contains("\(self.site.root.pin)") && text.contains("match: root") && text.contains("# No backup:"))
        for secret in ["s3cret", "token", "Joe", "4711", "8421", "User-Agent", "curl "] {
            #expect(!text.contains(secret), "\(secret)")
        }
        let schemas = try self.names(in: "learnt.schemas")
        #expect(schemas.count == 3)
        for name in schemas {
            let schema = self.learnt("learnt.schemas/\(name)")
            #expect(!schema.contains("Joe") && !schema.contains("4711"), "\(schema)")
        }

        let check = try PintleProcess.run(["check", "-c", "learnt.yaml"], folder: self.site.folder.path)
        #expect(check.exitCode == 0, "\(check.lines)")
        let warnings = check.output.filter { $0.contains(": warning: ") }
        #expect(warnings.count(where: { $0.contains("has a single pin") }) == 1, "\(warnings)")

        let again = try self.run(["-c", "learnt.yaml"], command)
        #expect(again.exitCode == 0, "\(again.lines)")
        let deviations = [
            ("\(self.https)/users", "denied: "), ("\(self.https)/users/1 --request DELETE", "denied: "),
            ("\(self.http)/json", "denied: "), ("http://localhost:\(self.site.origin.httpPort)/html", "denied: "),
            ("'\(self.https)/users/1?as=error'", "response-status: "),
            ("'\(self.http)/html' --request PUT", "denied: "),
            ("'\(self.https)/users/1?as=shape'", "response-body: "),
            ("'\(self.https)/users/1?as=page'", "response-body: "),
        ]
        for (request, finding) in deviations {
            let other = try self.run(["-c", "learnt.yaml"], self.curls([request]))
            #expect(
                other.exitCode == 1 && other.errors.contains { $0.hasPrefix(finding) }, "\(request)\n\(other.lines)")
        }
    }

    @Test func `another key above the server's is a finding`() throws {
        let command = self.curls(["\(self.https)/hello"])
        #expect(try self.run(["--learn", "learnt.yaml"], command).exitCode == 0)
        let text = self.learnt().replacingOccurrences(
            of: "\(self.site.root.pin)", with: "\(self.site.backup.pin)")
        try self.site.folder.write(text, to: "other.yaml")
        let process = try self.run(["-c", "other.yaml"], command)
        #expect(process.exitCode == 1 && process.errors.last?.hasPrefix("pin-mismatch: ") == true, "\(process.lines)")
    }

    @Test func `python and HTTP 2 are learnt from, too`() throws {
        let python = [
            "/usr/bin/python3", "-c",
            "import sys, urllib.request; sys.stdout.write(urllib.request.urlopen(sys.argv[1]).read().decode())",
            "\(self.https)/users/5",
        ]
        let learning = try self.run(["--learn", "python.yaml"], python)
        #expect(learning.exitCode == 0 && learning.output.count == 1, "\(learning.lines)")
        let again = try self.run(["-c", "python.yaml"], python)
        #expect(again.exitCode == 0 && again.output == learning.output, "\(again.lines)")

        let origin = try NginxOrigin(https: [self.site.leaf], locations: Self.service, http2: true)
        let url = "https://localhost:\(origin.httpsPort)"
        let curl = ["curl", "-sS", "--http2", "-w", "%{http_version} ", "\(url)/users/5", "\(url)/users/6"]
        let learningAgain = try self.run(["--learn", "two.yaml"], curl)
        #expect(learningAgain.exitCode == 0 && learningAgain.output.joined().contains("}2 "), "\(learningAgain.lines)")
        #expect(learningAgain.errors.last?.hasPrefix("learnt: 1 host, 1 route, 1 schema") == true)
        #expect(try self.run(["-c", "two.yaml"], curl).exitCode == 0)
    }

    @Test func `a client that pins goes on in a tunnel, whose end is pinned`() throws {
        let curl = "curl --silent --show-error --cacert root.pem \(self.https)/hello"
        let learning = try self.run(["--learn", "learnt.yaml"], ["sh", "-c", "\(curl) || \(curl)"])
        #expect(learning.exitCode == 0 && learning.output == ["hello"], "\(learning.lines)")
        let text = self.learnt()
        #expect(text.contains("connect: verify") && text.contains("\(self.site.root.pin)"), "\(text)")
        #expect(!text.contains("\ninterception:"))
        let again = try self.run(["-c", "learnt.yaml"], ["sh", "-c", curl])
        #expect(again.exitCode == 0 && again.output == ["hello"], "\(again.lines)")
    }

    @Test func `where one client pins and another does not, both pass again`() throws {
        let pinning = "curl --silent --cacert root.pem \(self.https)/hello"
        let command = ["sh", "-c", "curl --silent \(self.https)/json >/dev/null; \(pinning) || \(pinning)"]
        let learning = try self.run(["--learn", "learnt.yaml"], command)
        #expect(learning.exitCode == 0 && learning.output == ["hello"], "\(learning.lines)")
        let text = self.learnt()
        #expect(text.contains("  pass_through_on_alert: on") && text.contains("paths: [\"/json\"]"), "\(text)")
        let again = try self.run(["-c", "learnt.yaml"], command)
        #expect(again.exitCode == 0 && again.output == ["hello"], "\(again.lines)")
    }

    @Test func `tunnels to hosts that are not named are learnt as tunnels`() throws {
        let curl = ["curl", "-sS", "--cacert", "root.pem", "\(self.https)/hello"]
        let learning = try self.run(["--intercept", "other.test", "--learn", "learnt.yaml"], curl)
        #expect(learning.exitCode == 0 && learning.output == ["hello"], "\(learning.lines)")
        #expect(learning.errors.last?.hasPrefix("learnt: 1 host, 1 route, 0 schemas") == true)
        #expect(self.learnt().contains("connect: verify"))
        let again = try self.run(["-c", "learnt.yaml"], curl)
        #expect(again.exitCode == 0 && again.output == ["hello"], "\(again.lines)")
    }

    @Test
    func `LOOK-113 what is learnt of handshakes without a name passes`()
        throws
    {
        let script = """
            import os, socket, ssl, sys, urllib.parse
            proxy = urllib.parse.urlsplit(os.environ["https_proxy"])
            host = "localhost:\(self.site.origin.httpsPort)"
            link = socket.create_connection((proxy.hostname, proxy.port))
            link.sendall(f"CONNECT {host} HTTP/1.1\\r\\nHost: {host}\\r\\n\\r\\n".encode())
            head = b""
            while not head.endswith(b"\\r\\n\\r\\n"): head += link.recv(1)
            context = ssl.create_default_context(cafile="root.pem")
            context.check_hostname = False
            link = context.wrap_socket(link)
            link.sendall(b"GET /hello HTTP/1.0\\r\\n\\r\\n")
            sys.stdout.write(link.makefile().read().split("\\n")[-2] + "\\n")
            """
        let command = ["/usr/bin/python3", "-c", script]
        let learning = try self.run(["--intercept", "other.test", "--learn", "learnt.yaml"], command)
        #expect(learning.exitCode == 0 && learning.output == ["hello"], "\(learning.lines)")
        let text = self.learnt()
        let permission = "  require_sni_match: {allow_absent: [\"localhost:\(self.site.origin.httpsPort)\"]}\n"
        #expect(text.contains(permission), "\(text)")
        let again = try self.run(["-c", "learnt.yaml"], command)
        #expect(again.exitCode == 0 && again.output == ["hello"], "\(again.lines)")
        try self.site.folder.write(text.replacingOccurrences(of: permission, with: ""), to: "without.yaml")
        let refused = try self.run(["-c", "without.yaml"], command)
        #expect(
            refused.exitCode != 0 && refused.errors.contains { $0.contains("names no server") }, "\(refused.lines)")
    }

    @Test func `LOOK-78 a server that speaks first is learnt as a tunnel`() throws {
        let server = try RawOrigin { connection in
            try connection.send("220 mail.test\r\n")
            guard try connection.stream.readLine() == "QUIT" else { return }
            try connection.send("221 bye\r\n")
        }
        let script = """
            import os, socket, sys, urllib.parse
            proxy = urllib.parse.urlsplit(os.environ["https_proxy"])
            link = socket.create_connection((proxy.hostname, proxy.port))
            link.sendall(b"CONNECT 127.0.0.1:\(server.port) HTTP/1.1\\r\\nHost: 127.0.0.1:\(server.port)\\r\\n\\r\\n")
            lines = link.makefile("rb")
            while lines.readline().strip(): pass
            sys.stdout.write(lines.readline().decode().strip() + "\\n")
            link.sendall(b"QUIT\\r\\n")
            sys.stdout.write(lines.readline().decode().strip() + "\\n")
            """
        let command = ["/usr/bin/python3", "-c", script]
        let learning = try self.run(["--learn", "learnt.yaml"], command)
        #expect(learning.exitCode == 0 && learning.output == ["220 mail.test", "221 bye"], "\(learning.lines)")
        #expect(self.learnt().contains("connect: tunnel"), "\(self.learnt())")
        #expect(self.learnt().contains("0 requests and 1 tunnel"), "\(self.learnt())")
        #expect(learning.errors.contains { $0.hasPrefix("pintle: 0 requests and 1 tunnel") }, "\(learning.lines)")
        let again = try self.run(["-c", "learnt.yaml"], command)
        #expect(again.exitCode == 0 && again.output == learning.output, "\(again.lines)")
    }

    @Test func `bodies reach the client byte by byte, whatever their type and length`() throws {
        let long = "[\"\(String(repeating: "x", count: 3 << 20))\"]"
        try self.site.origin.serve(Array(long.utf8), as: "long.json")
        try self.site.origin.serve(pattern(5_000_003), as: "data")
        let command = [
            "sh", "-c",
            "for url in \(self.https)/files/long.json \(self.http)/files/long.json \(self.http)/files/data; do curl -sS $url | cksum; done",
        ]
        let plain = try self.run(["--intercept", "*"], command)
        let learning = try self.run(["--learn", "learnt.yaml"], command)
        #expect(learning.exitCode == 0 && learning.output == plain.output, "\(learning.lines)")
        #expect(self.learnt().contains("# Bodies are not judged: a body was longer than 1 MiB."))
        #expect(try self.run(["-c", "learnt.yaml"], command).output == plain.output)
    }

    @Test func `compressed bodies and those of several types are understood`() throws {
        let origin = try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                if request.head.startLine.contains("/packed") {
                    // `{"a":1}`, by gzip.
                    let packed: [UInt8] = [
                        0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3, 0xAB, 0x56, 0x4A, 0x54, 0xB2, 0x32, 0xAC, 5, 0, 0xAF, 0xAC,
                        0x1B, 0x56, 7,
                        0, 0, 0,
                    ]
                    try connection.send(
                        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n"
                    )
                    try connection.stream.send(packed)
                } else {
                    try connection.send(response("{\"a\":1", fields: "Content-Type: application/json\r\n"))
                }
            }
        }
        let url = "http://127.0.0.1:\(origin.port)"
        let command = self.curls(["--compressed \(url)/packed", "\(url)/broken"])
        #expect(try self.run(["--learn", "learnt.yaml"], command).exitCode == 0)
        let text = self.learnt()
        #expect(
            text.contains("packed.json\"")
                && text.contains("# Bodies are not judged: a body that is JSON by its type is none."))
        #expect(try self.run(["-c", "learnt.yaml"], command).exitCode == 0)
    }

    // MARK: Parts that are not written

    @Test func `nothing is written where nothing was asked`() throws {
        let before = try self.names()
        let process = try self.run(["--learn", "learnt.yaml"], ["true"])
        #expect(process.exitCode == 0)
        #expect(
            process.errors.last == "learnt: nothing, as no request came through; learnt.yaml was not written")
        #expect(try self.names() == before)
    }

    @Test func `what failed or was denied is told, and not allowed`() throws {
        try self.site.folder.write("version: 1\ndestinations: {deny: [ads.test]}\n", to: "pintle.yaml")
        let closed = try FreePort.find()
        let command = self.curls([
            "\(self.http)/hello", "http://ads.test/s3cr3tpath", "http://127.0.0.1:\(closed)/x/77",
            "\(self.https)/hello",
        ])
        let process = try self.run(["--learn", "learnt.yaml"], command)
        #expect(process.exitCode == 1 || process.exitCode == 60, "\(process.lines)")
        let text = self.learnt()
        #expect(text.contains("#   GET ads.test:80/*: denied\n") && !text.contains("s3cr3t"), "\(text)")
        #expect(text.contains("#   GET 127.0.0.1:\(closed)/x/*: failed\n"))
        #expect(text.contains("#   GET localhost:\(self.site.origin.httpsPort)/hello: failed\n"), "\(text)")
        #expect(text.contains("The rules of pintle.yaml held during the run"))
        let allowed = text.split(separator: "\n").filter { $0.hasPrefix("    - \"") }
        #expect(
            allowed.contains("    - \"127.0.0.1:\(self.site.origin.httpPort)\"")
                && !allowed.joined().contains("ads.test"))
    }

    @Test func `nothing is overwritten, and the command is not run where nothing can be written`() throws {
        try self.site.folder.write("mine\n", to: "there.yaml")
        try FileManager.default.createDirectory(
            atPath: "\(self.site.folder.path)/kept.schemas", withIntermediateDirectories: true)
        try self.site.folder.write(
            "version: 1\nroutes: [{name: up, match: {hosts: [x.test]}, upstream: \"http://y.test/\"}]\n", to: "up.yaml")
        let cases: [([String], String)] = [
            (["--learn", "there.yaml"], "--learn there.yaml: it is there already; move it away, or name another file"),
            (
                ["--learn", "kept.yaml"],
                "--learn kept.schemas: it is there already; move it away, or name another file"
            ),
            (
                ["--learn", "nowhere/x.yaml"],
                "--learn nowhere/x.yaml: nothing can be written to nowhere: no such file or folder"
            ),
            (["--learn", "-"], "--learn -: name a file that is not there yet, as in learnt.yaml"),
            (
                ["--learn", "new.yaml", "-c", "up.yaml"],
                "--learn new.yaml: the route \"up\" of up.yaml changes requests or responses, and what is learnt stands alone; "
                    + "learn under a configuration without such routes (-c FILE)"
            ),
        ]
        for (options, message) in cases {
            let process = try self.run(options, ["touch", "ran"])
            #expect(process.exitCode == 125 && process.errors == ["pintle run: \(message)"], "\(process.lines)")
        }
        #expect(fileBytes("\(self.site.folder.path)/ran") == nil && self.learnt("there.yaml") == "mine\n")
    }

    @Test func `a file that appears meanwhile is left as it is`() throws {
        let command = ["sh", "-c", "curl -sS -o /dev/null \(self.http)/json; echo mine > learnt.yaml"]
        let process = try self.run(["--learn", "learnt.yaml"], command)
        #expect(process.exitCode == 125, "\(process.lines)")
        #expect(
            process.errors.last == "pintle run: --learn learnt.yaml: it cannot be written: it is there already")
        #expect(self.learnt() == "mine\n")
        #expect(try !self.names().contains("learnt.schemas"))
        #expect(
            try self.run(["--learn", "l.yaml"], ["sh", "-c", "\(command[2]); echo > l.yaml; exit 9"]).exitCode == 9)
    }

    @Test func `ten thousand paths are told by a few patterns`() throws {
        let script = """
            import http.client, itertools, sys
            letters = "abcdefghij"
            connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[2]))
            for count, word in enumerate(itertools.product(letters, repeat=4)):
                connection.request("GET", "%s/%s/%s" % (sys.argv[1], "".join(word[:2]), "".join(word[2:])))
                connection.getresponse().read()
            """
        let learning = try self.run(
            ["--learn", "learnt.yaml"],
            [
                "sh", "-c", "exec /usr/bin/python3 -c \"$0\" \(self.http) \"${http_proxy##*:}\"", script,
            ])
        #expect(learning.exitCode == 0, "\(learning.lines)")
        #expect(learning.errors.first == "pintle: 10000 requests (pintle.yaml)", "\(learning.errors)")
        let text = self.learnt()
        #expect(text.contains("paths: [\"/*/*\"]") && text.utf8.count < 4000 && !text.contains("NOT WHOLE"), "\(text)")
    }
}
