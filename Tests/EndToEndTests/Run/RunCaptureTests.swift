// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleTesting
import Testing

/// `pintle run --isolate`: programs that know nothing of proxies (contract §7).
@Suite(.enabled(if: OwnNetworks.isAvailable, "this system lets nobody make network namespaces"))
struct RunCaptureTests {
    private static let machine = "host.pintle.internal"

    /// Runs a command without proxy variables.
    private func run(_ stage: RunStage, _ command: String) throws -> (process: ChildProcess, report: JSONObject) {
        let process = try stage.run(
            ["--isolate", "--report", "json=report.json"],
            [
                "env", "-u", "http_proxy", "-u", "https_proxy", "-u", "all_proxy", "-u", "HTTP_PROXY", "-u",
                "HTTPS_PROXY",
                "-u", "ALL_PROXY", "sh", "-c", command,
            ])
        return (process, try stage.report())
    }

    private static func host(_ report: JSONObject, _ name: String) -> JSONObject? {
        (report["hosts"] as? [JSONObject])?.first { ($0["host"] as? String)?.hasPrefix(name) == true }
    }

    @Test func `a request in clear is one like any other, and the summary tells who was captured`() throws {
        let origin = try RawOrigin(answering: response("here"))
        let stage = try RunStage()
        let (process, report) = try self.run(stage, "curl -sS http://\(Self.machine):\(origin.port)/a")
        #expect(process.exitCode == 0 && process.output == ["here"], "\(process.lines)")
        #expect(origin.requests.map(\.head.startLine) == ["GET /a HTTP/1.1"])
        #expect(origin.requests.first?.head["Via"]?.contains("pintle") == true)
        #expect(report.object("summary").number("captured") == 1)
        // A process that has ended before it was looked for is not named.
        let programs = report["ignored_proxy"] as? [String]
        #expect(programs == ["curl"] || programs == [], "\(report)")
        #expect(Self.host(report, Self.machine)?.number("captured") == 1)
        #expect(process.errors.contains { $0.contains("CAPTURED") }, "\(process.errors)")
        #expect(
            process.errors.contains { $0.hasPrefix("ignored-proxy: ") && $0.contains(" did not use") },
            "\(process.errors)")
    }

    @Test func `TLS is relayed to the name that was looked up`() throws {
        let identity = try TestPKI().selfSigned(dns: [Self.machine])
        let server = try OpenSSLServer([identity])
        let stage = try RunStage()
        _ = try stage.folder.write(identity, as: "site")
        let (process, report) = try self.run(
            stage, "curl -sS --cacert site.pem -o /dev/null https://\(Self.machine):\(server.port)/")
        #expect(process.exitCode == 0, "\(process.lines)")
        let host = try #require(Self.host(report, Self.machine))
        #expect(host.number("tunnels") == 1 && host.number("captured") == 1)
    }

    @Test func `a name that no rule allows does not exist, and is told of`() throws {
        let stage = try RunStage("destinations: {deny: [{host: \"*.ads.example\", reason: \"use the mirror\"}]}")
        let (process, report) = try self.run(stage, "curl -sS http://x.ads.example/; true")
        #expect(
            process.exitCode == 1 && process.errors.contains { $0.contains("Could not resolve") }, "\(process.lines)")
        let finding = try #require((report["findings"] as? [JSONObject])?.first)
        #expect(finding["name"] as? String == "name-denied" && finding["host"] as? String == "x.ads.example")
        #expect(
            finding["reason"] as? String
                == "x.ads.example is denied by destinations.deny[0] \"*.ads.example\": use the mirror")
    }

    /// Runs an isolated command that asks for a page and shows its resolv.conf, on a machine with another one.
    private func ask(on stage: RunStage, with resolver: String) throws -> ChildProcess {
        let origin = try RawOrigin(answering: response("here"))
        try stage.folder.write(resolver, to: "resolv")
        let command = """
            mount --bind resolv /etc/resolv.conf && exec \(PintleProcess.binary) run --isolate -- env -u http_proxy \
            -u all_proxy -u ALL_PROXY sh -c 'curl -sS http://\(Self.machine):\(origin.port)/; echo; cat /etc/resolv.conf'
            """
        let process = try ChildProcess(
            "/usr/bin/unshare", ["--mount", "sh", "-c", command], environment: RunStage.environment,
            folder: stage.folder.path)
        try process.waitForExit()
        return process
    }

    @Test(.enabled(if: geteuid() == 0, "mounts are root's"))
    func `domains to search make no other names of those that a command asks for`() throws {
        let stage = try RunStage("destinations: {default: deny, allow: [\(Self.machine)]}")
        let process = try self.ask(
            on: stage, with: "search svc.test corp.test\nnameserver 192.0.2.1\noptions ndots:5\n")
        #expect(process.exitCode == 0, "\(process.lines)")
        #expect(
            process.output == ["here", "search .", "nameserver 192.0.2.1", "options ndots:5"], "\(process.lines)")
        #expect(!process.errors.contains { $0.contains("name-denied") }, "\(process.errors)")
    }

    @Test(.enabled(if: geteuid() == 0, "mounts are root's"))
    func `names are found though the machine asks only a server on a link`() throws {
        let process = try self.ask(on: RunStage(), with: "nameserver fe80::1%eth0\n")
        #expect(process.output == ["here", "nameserver 192.0.2.53"], "\(process.lines)")
    }

    @Test(.enabled(if: geteuid() == 0, "mounts are root's"), arguments: [true, false])
    func `names of hosts(5) are asked for and judged like all others`(isAllowed: Bool) throws {
        let origin = try RawOrigin(answering: response("here"))
        let stage = try RunStage("destinations: {default: deny, allow: [\(isAllowed ? "dev.test" : "other.test")]}")
        try stage.folder.write("127.0.0.1 localhost dev.test\n192.0.2.7 far.test\n", to: "hosts")
        let command = """
            mount --bind hosts /etc/hosts && umask 077 && exec \(PintleProcess.binary) run --isolate -- setpriv \
            --reuid=65534 --clear-groups env -u http_proxy -u all_proxy -u ALL_PROXY sh -c 'cat /etc/hosts; echo; \
            curl -sS http://dev.test:\(origin.port)/'
            """
        let process = try ChildProcess(
            "/usr/bin/unshare", ["--mount", "sh", "-c", command], environment: RunStage.environment,
            folder: stage.folder.path)
        try process.waitForExit()
        #expect(process.output == ["127.0.0.1 localhost", ""] + (isAllowed ? ["here"] : []), "\(process.lines)")
        #expect(process.errors.contains { $0.contains("Could not resolve host: dev.test") } == !isAllowed)
        #expect(origin.requests.count == (isAllowed ? 1 : 0))
    }

    @Test func `a protocol that captured clients speak is learnt`() throws {
        let server = try RawOrigin { connection in
            try connection.send("220 mail.test\r\n")
            _ = try connection.waitForEnd()
        }
        let stage = try RunStage("isolate: {other_tcp: allow}")
        let script = """
            import socket, sys
            sys.stdout.write(socket.create_connection(("\(Self.machine)", \(server.port))).recv(100).decode().strip())
            """
        let command = [
            "env", "-u", "http_proxy", "-u", "https_proxy", "-u", "all_proxy", "/usr/bin/python3", "-c", script,
        ]
        let learning = try stage.run(["--isolate", "--learn", "learnt.yaml"], command)
        #expect(learning.exitCode == 0, "\(learning.lines)")
        let again = try stage.run(["--isolate", "-c", "learnt.yaml"], command)
        #expect(again.exitCode == 0 && again.output == ["220 mail.test"], "\(again.lines)")
    }

    @Test(arguments: [true, false])
    func `a server that speaks first is heard if a rule lets every protocol through`(isAllowed: Bool) throws {
        let server = try RawOrigin { connection in
            try connection.send("220 mail.test\r\n")
            _ = try connection.waitForEnd()
        }
        let rule = isAllowed ? "destinations: {allow: [\"tcp://\(Self.machine):\(server.port)\"]}" : ""
        let stage = try RunStage(rule)
        let script = """
            import socket, sys
            s = socket.create_connection(("\(Self.machine)", \(server.port)))
            try: sys.stdout.write(s.recv(100).decode().strip() or "closed")
            except ConnectionResetError: sys.stdout.write("reset")
            """
        let (process, report) = try self.run(stage, "/usr/bin/python3 -c '\(script)'")
        #expect(process.output == [isAllowed ? "220 mail.test" : "reset"], "\(process.lines)")
        #expect(process.exitCode == (isAllowed ? 0 : 1))
        if !isAllowed {
            let finding = try #require((report["findings"] as? [JSONObject])?.first)
            #expect(
                (finding["reason"] as? String)?.hasPrefix(
                    "its client waits for the server to speak first, so that it cannot be read: ") == true, "\(finding)"
            )
        }
    }

    @Test(arguments: [true, false])
    func `HTTP/2 without TLS goes through by a rule for every protocol, as clients of gRPC speak it`(isAllowed: Bool)
        throws
    {
        let server = try RawOrigin { connection in
            try connection.send("settings")
            _ = try connection.waitForEnd()
        }
        let rule = isAllowed ? "destinations: {allow: [\"tcp://\(Self.machine):\(server.port)\"]}" : ""
        let script = #"""
            import socket, sys
            s = socket.create_connection(("NAME", PORT))
            s.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0")
            try: sys.stdout.write(s.recv(100).decode() or "closed")
            except ConnectionResetError: sys.stdout.write("reset")
            """#.replacing("NAME", with: Self.machine).replacing("PORT", with: "\(server.port)")
        let stage = try RunStage(rule)
        try stage.folder.write(script, to: "client.py")
        let (process, report) = try self.run(stage, "/usr/bin/python3 client.py")
        #expect(process.output == [isAllowed ? "settings" : "reset"], "\(process.lines)")
        let findings = report["findings"] as? [JSONObject] ?? []
        #expect(findings.compactMap { $0["name"] as? String } == (isAllowed ? [] : ["denied"]))
        let reason = findings.first?["reason"] as? String
        #expect(isAllowed || reason?.hasPrefix("its client speaks HTTP/2 without TLS, ") == true, "\(findings)")
    }

    @Test func `addresses are captured, IPv4 and IPv6, on every port`() throws {
        let stage = try RunStage("destinations: {deny: [\"192.0.2.0/24\", \"2001:db8::/32\"]}")
        let (_, report) = try self.run(
            stage,
            "curl -s -m 20 http://192.0.2.1:8081/ -o /dev/null; curl -s -m 20 'http://[2001:db8::1]:81/' -o /dev/null")
        let findings = report["findings"] as? [JSONObject] ?? []
        #expect(findings.compactMap { $0["host"] as? String } == ["192.0.2.1:8081", "[2001:db8::1]:81"], "\(findings)")
        #expect(findings.allSatisfy { $0["name"] as? String == "denied" })
    }

    @Test func `the command's own servers stay its own, also on the ports of others`() throws {
        let script = """
            import http.server, sys, threading, urllib.request
            ask = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            for port in (80, 443, 53, 3128):
                server = http.server.HTTPServer(("0.0.0.0", port), http.server.SimpleHTTPRequestHandler)
                threading.Thread(target=server.serve_forever, daemon=True).start()
                sys.stdout.write("%d " % ask.open("http://127.0.0.1:%d/" % port).status)
            """
        guard geteuid() == 0 else { return }
        let stage = try RunStage()
        let (process, report) = try self.run(stage, "/usr/bin/python3 -c '\(script)' 2>/dev/null")
        #expect(process.output == ["200 200 200 200 "], "\(process.lines)")
        #expect(report.object("summary").number("requests") == 0)
    }

    @Test func `UDP is refused at once`() throws {
        let script = """
            import socket, sys
            for family, address in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
                s = socket.socket(family, socket.SOCK_DGRAM)
                s.settimeout(60)
                s.connect((address, 443))
                s.send(b"x")
                try: sys.stdout.write(repr(s.recv(10)))
                except ConnectionRefusedError: sys.stdout.write("refused ")
            """
        let stage = try RunStage()
        let (process, _) = try self.run(stage, "/usr/bin/python3 -c '\(script)'")
        #expect(process.output == ["refused refused "], "\(process.lines)")
    }

    @Test func `closed captures nothing`() throws {
        let stage = try RunStage()
        let process = try stage.run(
            ["--isolate=closed", "--report", "json=report.json"],
            ["curl", "-sS", "--noproxy", "*", "http://192.0.2.1/"])
        #expect(process.exitCode == 7, "\(process.lines)")
        #expect(try stage.report().number("refused_past_proxy") == 1)
        let configured = try RunStage("isolate: {capture: off}")
        let other = try configured.run(["--isolate"], ["curl", "-sS", "--noproxy", "*", "http://192.0.2.1/"])
        #expect(other.exitCode == 7, "\(other.lines)")
    }

    @Test func `a run within a run has its names from the outer one`() throws {
        let origin = try RawOrigin(answering: response("here"))
        let stage = try RunStage()
        let inner =
            "\(PintleProcess.binary) run --isolate -- curl -sS --noproxy '*' http://\(Self.machine):\(origin.port)/"
        let process = try stage.run(["--isolate"], ["sh", "-c", inner])
        // The inner run may need a privilege that the outer one has removed; then its exit code is 125.
        guard process.exitCode != 125 else { return }
        #expect(process.exitCode == 0, "\(process.lines)")
    }
}
