// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleTesting
import Testing

/// The commands that look at a running proxy: `tail`, `wait` and `top`.
struct FollowTests {
    private let folder: TemporaryFolder
    private let pintle: PintleProcess
    private let origin: RawOrigin
    /// Set to let answers to /held go.
    private let release = Watched(false)

    init() throws {
        let release = self.release
        self.origin = try RawOrigin { connection in
            while true {
                let line = try connection.readRequest().head.startLine
                if line.contains("/held") { try release.wait(for: "the release") { $0 } }
                try connection.send(response("12345", status: line.contains("/bad") ? "500 No" : "200 OK"))
            }
        }
        self.folder = try TemporaryFolder()
        self.pintle = try PintleProcess("routes: [{name: site, match: {hosts: [127.0.0.1]}}]", folder: self.folder)
    }

    private var base: String { "http://127.0.0.1:\(self.origin.port)" }
    private var environment: [String: String] {
        ["XDG_STATE_HOME": self.folder.path, "PATH": "/usr/bin:/bin", "TERM": "xterm"]
    }

    private func start(_ arguments: String...) throws -> ChildProcess {
        try ChildProcess(PintleProcess.binary, arguments, environment: self.environment)
    }

    private func run(_ arguments: String...) throws -> ChildProcess {
        try PintleProcess.run(arguments, environment: self.environment)
    }

    private func ask(_ path: String) throws { _ = try Curl.run(proxy: self.pintle.port, self.base + path) }

    /// Asks until the command that follows has written a line. It begins to follow at some time after its start.
    private func ask(_ path: String, until process: ChildProcess) throws {
        try Patience.wait(for: "a line of tail; there is \(process.lines)") {
            try self.ask(path)
            return !process.output.isEmpty
        }
    }

    @Test func `tail writes the lines of the log that its filter chooses`() throws {
        let tail = try self.start("tail", "~c 5xx", "~u", "'/bad?'")
        try self.ask("/bad?key=secret", until: tail)
        try self.ask("/good?key=secret")
        try self.ask("/bad?last=secret")
        _ = try tail.waitForLine("the last") { $0.contains("last") }
        for line in tail.output {
            _ = try self.pintle.process.waitForLine("the same line in the log") { $0 == line }
            #expect(line.contains("\"status\":500") && !line.contains("secret"), "\(line)")
        }
    }

    @Test func `a filter reads the fields of a request that was forwarded`() throws {
        let tail = try self.start("tail", "~hq X-Mark")
        try Patience.wait(for: "a line of tail; there is \(tail.lines)") {
            _ = try Curl.run(proxy: self.pintle.port, self.base + "/marked", "-H", "X-Mark: 7")
            return !tail.output.isEmpty
        }
        try self.ask("/plain")
        _ = try Curl.run(proxy: self.pintle.port, self.base + "/last", "-H", "X-Mark: 7")
        _ = try tail.waitForLine("the last") { $0.contains("/last") }
        #expect(!tail.output.contains { $0.contains("/plain") })
    }

    @Test func `tail has the format that is asked for`() throws {
        let tail = try self.start("tail", "--format", "text")
        try self.ask("/", until: tail)
        #expect(tail.output[0].hasPrefix("time=") && tail.output[0].contains(" source=origin"), "\(tail.output)")
    }

    @Test func `a filter with a fault is refused with its place, also without a proxy`() throws {
        for environment in [self.environment, ["XDG_STATE_HOME": "/nowhere"]] {
            let tail = try PintleProcess.run(["tail", "~c 5xx", "~rout x"], environment: environment)
            #expect(tail.exitCode == 2)
            #expect(
                tail.errors == [
                    "this is not a filter: there is no ~rout; did you mean ~route?, at character 8",
                    "  ~c 5xx ~rout x", "         ^",
                ])
        }
    }

    @Test func `tail ends with the proxy`() throws {
        let tail = try self.start("tail")
        try self.ask("/", until: tail)
        #expect(try self.pintle.stop() == 0)
        #expect(try tail.waitForExit() == 0)
        #expect(tail.errors == ["pintle tail: the proxy has ended"])
    }

    @Test func `tail ends with its reader, before the next exchange`() throws {
        let shell = try ChildProcess(
            "/bin/bash", ["-c", "\"$0\" tail | head -n 1; echo \"${PIPESTATUS[0]}\"", PintleProcess.binary],
            environment: self.environment)
        try self.ask("/", until: shell)
        #expect(try shell.waitForExit() == 0)
        #expect(shell.output.count == 2, "\(shell.lines)")
    }

    @Test func `a follower that does not read holds nothing up`() throws {
        let tail = try self.start("tail")
        try self.ask("/", until: tail)
        tail.signal(SIGSTOP)
        for number in 0..<50 { try self.ask("/\(number)") }
        #expect(try self.run("status").exitCode == 0)
        tail.signal(SIGCONT)
        _ = try tail.waitForLine("the last") { $0.contains("/49\"") }
    }

    @Test func `more commands than the proxy serves at a time are told so`() throws {
        let socket = "\(self.folder.path)/pintle/run/\(self.pintle.process.pid).sock"
        let followers = Watched(
            try (0..<64).map { _ in
                let follower = try SocketStream(path: socket)
                try follower.send(#"{"command":"tail","force":false,"live":false,"tail":{"filter":""}}"# + "\n")
                return follower
            })
        let refused = try self.run("status")
        #expect(refused.exitCode == 4)
        #expect(refused.errors == ["the proxy serves 64 commands at a time, and has as many; try again"])
        followers.change { $0 = [] }
        try Patience.wait(for: "an end of the followers") { try self.run("status").exitCode == 0 }
    }

    @Test func `wait returns once it is quiet, and not while an exchange is active`() throws {
        let held = try self.pintle.connect()
        try held.send("GET \(self.base)/held HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        try self.pintle.waitForCounter("active", 1)
        let early = try self.run("wait", "--idle", "1ms", "--timeout", "200ms")
        #expect(early.exitCode == 1)
        #expect(
            early.errors == [
                "waiting until no exchange has been active for 1ms, for at most 200ms",
                "it was not quiet for 1ms within 200ms: 0 exchanges have begun, and 1 are active",
            ])
        let wait = try self.start("wait", "--idle", "10ms")
        self.release.change { $0 = true }
        #expect(try held.readHead().status == 200)
        #expect(try wait.waitForExit() == 0)
        #expect(
            wait.lines.map(\.text) == ["waiting until no exchange has been active for 10ms, without a limit"])
    }

    @Test(arguments: [
        (["wait"], "--idle"), (["wait", "--idle", "soon"], "--idle must be a duration"),
        (["wait", "--idle", "2s", "--timeout", "1s"], "--timeout is shorter than --idle"),
        (["top", "--once", "~q"], "--once shows no exchanges"), (["top"], "pintle top needs a terminal"),
        (["tail", "--format", "xml"], "format"),
    ])
    func `what cannot be meant is refused`(arguments: [String], sentence: String) throws {
        let process = try PintleProcess.run(arguments, environment: self.environment)
        #expect(process.exitCode == 2, "\(process.lines)")
        #expect(process.errors.joined().contains(sentence), "\(process.errors)")
    }

    @Test func `top writes the counters of the log once`() throws {
        for path in ["/", "/bad", "/bad"] { try self.ask(path) }
        try self.pintle.waitForExchanges(3)
        let top = try self.run("top", "--once")
        #expect(top.exitCode == 0)
        let rows = top.output.dropFirst(3).map { $0.split(separator: " ", omittingEmptySubsequences: true) }
        #expect(
            rows.map { $0.prefix(3) } == [["ROUTE", "ACTIVE", "REQUESTS"], ["site", "0", "3"], ["all", "0", "3"]])
        #expect(top.output[1].hasSuffix("0 tunnels, 0 B of bodies held"), "\(top.output)")
    }

    @Test func `top does not draw on a terminal that cannot be controlled`() throws {
        let script = """
            import os, pty, sys
            pid, terminal = pty.fork()
            if pid == 0: os.execv(sys.argv[1], ["pintle", "top"])
            try:
                while piece := os.read(terminal, 4096): os.write(1, piece)
            except OSError: pass
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            """
        let process = try ChildProcess(
            "/usr/bin/python3", ["-c", script, PintleProcess.binary],
            environment: self.environment.merging(["TERM": "dumb"]) { $1 })
        #expect(try process.waitForExit() == 2)
        let words = process.output.joined()
        #expect(words.contains("pintle top needs a terminal") && !words.contains("\u{1B}"), "\(process.lines)")
    }

    @Test func `top draws on a terminal of any size, stops for Ctrl-Z, and gives the terminal back`() async throws {
        let script = #"""
            import fcntl, os, pty, select, signal, struct, subprocess, termios, time
            patience = float(os.environ["patience"])
            pid, fd = pty.fork()
            if pid == 0: os.execv(os.environ["pintle"], ["pintle", "top", "~u", "'/bad'"])
            seen = b""
            def expect(text):
                global seen
                end = time.monotonic() + patience
                while text.encode() not in seen:
                    if not select.select([fd], [], [], max(0, end - time.monotonic()))[0]:
                        raise SystemExit("waited for %r: %r" % (text, seen[-3000:]))
                    try: piece = os.read(fd, 65536)
                    except OSError: piece = b""
                    if not piece: raise SystemExit("the end before %r: %r" % (text, seen[-3000:]))
                    seen += piece
                before, seen = seen.split(text.encode(), 1)
                return before
            def resize(lines, columns): fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
            def ask(path):
                subprocess.run(["/usr/bin/curl", "-so", "/dev/null", "-x", os.environ["proxy"], os.environ["base"] + path])
            modes = termios.tcgetattr(fd)
            resize(20, 120); expect("\x1b[?1049h"); expect("REQ/S")
            ask("/good"); ask("/bad")
            before = expect("/bad"); assert b"GET" in before and b"/good" not in before, before
            expect("site")
            # Columns for which there is no room are left out whole.
            resize(20, 76); frame = b""
            while b"DOWN/S\x1b[K" not in frame or b"CANCELLED" in frame: expect("\x1b[H"); frame = expect("\x1b[J")
            # One line fits, cut at the border.
            resize(1, 12); frame = b""
            while frame != b"listening on\x1b[K": expect("\x1b[H"); frame = expect("\x1b[J")
            os.write(fd, b"\x1a"); expect("\x1b[?1049l")
            end = time.monotonic() + patience
            while os.waitpid(pid, os.WUNTRACED | os.WNOHANG)[0] == 0: assert time.monotonic() < end
            os.kill(pid, signal.SIGCONT); expect("\x1b[?1049h")
            os.write(fd, b"q"); expect("\x1b[?1049l")
            assert os.waitpid(pid, 0)[1] == 0
            assert termios.tcgetattr(fd) == modes
            os.write(1, b"passed\n")
            """#
        let process = try ChildProcess(
            "/usr/bin/python3", ["-c", script],
            environment: self.environment.merging([
                "pintle": PintleProcess.binary, "patience": "\(Patience.seconds)", "base": self.base, "TERM": "xterm",
                "proxy": "http://127.0.0.1:\(self.pintle.port)",
            ]) { $1 })
        let code = try await process.exit(within: 5 * Patience.seconds)
        #expect(code == 0 && process.output.last == "passed", "\(process.lines)")
    }
}
