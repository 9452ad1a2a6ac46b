// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Questions about destinations at the terminal of `pintle run`, under an interactive shell.
@Suite(.timeLimit(.minutes(15))) struct RunAskTests {
    private let folder: TemporaryFolder
    private let origin: RawOrigin

    init() throws {
        self.folder = try TemporaryFolder()
        self.origin = try RawOrigin { connection in
            while true {
                _ = try connection.readRequest()
                try connection.send(response("ok"))
            }
        }
        try self.folder.write(TerminalShell.python, to: "shell.py")
        try self.folder.write(Self.command, to: "command.py")
    }

    /// A program that asks for a page on another thread, says the status, and says the lines that it reads. After some of them it
    /// reads on when SIGUSR1 has come.
    private static let command = """
        import os, signal, sys, termios, threading, tty, urllib.error, urllib.request
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
        def say(*words): os.write(1, (" ".join(map(str, words)) + ";\\r\\n").encode())
        def ask():
            try: say("status", urllib.request.urlopen(sys.argv[1]).status)
            except urllib.error.HTTPError as error: say("status", error.code)
        signal.signal(signal.SIGINT, lambda number, frame: say("interrupted"))
        say("ready", os.getpid())
        while True:
            line = os.read(0, 100)
            if line in (b"ask\\n", b"a"): threading.Thread(target=ask).start()
            elif line == b"later\\n":
                threading.Thread(target=ask).start()
                signal.sigwait({signal.SIGUSR1})
            elif line == b"background\\n":
                say("waits")
                signal.sigwait({signal.SIGUSR1})
                threading.Thread(target=ask).start()
                signal.sigwait({signal.SIGUSR1})
            elif line == b"swap\\n":
                signal.signal(signal.SIGTTOU, signal.SIG_IGN)
                threading.Thread(target=ask).start()
                signal.sigwait({signal.SIGUSR1})
                modes = termios.tcgetattr(0)
                modes[6][termios.VQUIT], modes[6][termios.VSUSP] = b"n", b"y"
                termios.tcsetattr(0, termios.TCSANOW, modes)
                say("swapped")
                signal.sigwait({signal.SIGUSR1})
            elif line == b"raw\\n":
                tty.setraw(0)
                say("raw")
            elif line in (b"end\\n", b"e"): os._exit(0)
            else: say("read", repr(line))
        """

    private func perform(_ script: String, _ more: String = "", options: String = "") async throws {
        try self.folder.write(
            "version: 1\ndestinations: {default: deny, ask: [localhost]}\n\(more)\n", to: "pintle.yaml")
        let command = "/usr/bin/python3 command.py http://localhost:\(self.origin.port)/"
        try await TerminalShell.perform(
            """
            shell = Shell()
            run = os.environ["pintle"] + " run -c pintle.yaml \(options) -- \(command)\\n"
            \(script)
            """, in: self.folder)
    }

    @Test func `a question takes two keys, and no byte that is typed for the command`() async throws {
        try await self.perform(
            #"""
            shell.type(run); shell.expect("ready"); modes = shell.modes()
            shell.type("ask\n"); shell.type("half of"); shell.expect("press y to allow")
            shell.type(" a li"); shell.type("y"); shell.expect("press o for once"); shell.type("o")
            shell.expect("allowed once"); shell.expect("status 200;")
            assert shell.modes() == modes
            shell.type("ne\n"); shell.expect("read b'half of a line\\n';")
            shell.type("ask\n"); shell.expect("press y"); shell.type("n"); shell.expect("press o"); shell.type("r")
            shell.expect("denied for this run"); shell.expect("status 403;")
            # The answer is known.
            shell.type("ask\n"); shell.expect("status 403;")
            shell.type("end\n"); shell.expect("granted: localhost:"); shell.expect("<prompt>")
            """#, options: "--report json=report.json")
        let report = try jsonObject(String(decoding: fileBytes("\(self.folder.path)/report.json") ?? [], as: UTF8.self))
        let grants = report["grants"] as? [JSONObject]
        #expect(
            grants?.map { $0["line"] as? String } == ["destinations: {allow: [\"localhost:\(self.origin.port)\"]}"],
            "\(report)")
    }

    @Test func `a command that begins to read meanwhile is stopped, and goes on with what was typed`() async throws {
        try await self.perform(
            #"""
            shell.type(run); shell.expect("ready "); command = int(shell.expect(";"))
            def is_stopped(): return text(command, "stat").rpartition(")")[2].split()[:1] == ["T"]
            shell.type("later\n"); shell.expect("press y")
            os.kill(command, signal.SIGUSR1); until("a stop", is_stopped)
            shell.type("text\n"); shell.type("y"); shell.expect("press o"); shell.type("r")
            shell.expect("allowed for this run"); shell.expect("read b'text\\n';")
            shell.type("end\n"); shell.expect("granted"); shell.expect("<prompt>")
            """#)
    }

    @Test func `Ctrl-C denies and interrupts the command, and raw mode is kept`() async throws {
        try await self.perform(
            #"""
            shell.type(run); shell.expect("ready")
            shell.type("ask\n"); shell.expect("press y"); shell.type("\x03")
            # Either of them may come first.
            shell.expect("denied once"); before = shell.expect("status 403;")
            if "interrupted;" not in before: shell.expect("interrupted;")
            shell.type("raw\n"); shell.expect("raw;"); modes = shell.modes(); shell.type("a")
            # The command takes Ctrl-C as a byte. To read more it has to wait for the answer.
            shell.expect("press y"); shell.type("\x03"); shell.expect("read b'\\x03';")
            shell.type("y"); shell.expect("press o"); shell.type("o"); shell.expect("status 200;")
            assert shell.modes() == modes
            shell.type("e"); shell.expect("granted"); shell.expect("<prompt>")
            """#)
    }

    @Test func `keys that the command has changed meanwhile are no answer`() async throws {
        try await self.perform(
            #"""
            shell.type(run); shell.expect("ready "); command = int(shell.expect(";"))
            shell.type("swap\n"); shell.expect("press y"); os.kill(command, signal.SIGUSR1); shell.expect("swapped;")
            # It would be the first key.
            shell.type("n"); shell.expect("press y"); shell.type("n"); shell.expect("press o"); shell.type("o")
            shell.expect("denied once"); shell.expect("status 403;")
            os.kill(command, signal.SIGUSR1); shell.type("end\n"); shell.expect("<prompt>")
            """#)
    }

    @Test func `a question that closes gives the terminal back`() async throws {
        try await self.perform(
            #"""
            shell.type(run); shell.expect("ready"); modes = shell.modes()
            shell.type("ask\n"); shell.expect("press y"); shell.expect("it waits no longer"); shell.expect("status 403;")
            assert shell.modes() == modes
            shell.type("end\n"); shell.expect("not answered within 1s"); shell.expect("<prompt>")
            # The command ends while its question is open.
            shell.type(run); shell.expect("ready")
            shell.type("later\n"); shell.expect("press y"); os.killpg(os.getpgid(children(shell.pid)[0]), signal.SIGTERM)
            shell.expect("<prompt>")
            assert shell.modes()[3] & 2
            """#, "ask: {timeout: 1s}")
    }

    @Test func `a command in the background is asked about once it is in the foreground`() async throws {
        try await self.perform(
            #"""
            shell.type(run); shell.expect("ready "); command = int(shell.expect(";"))
            shell.type("background\n"); shell.expect("waits;")
            shell.type("\x1a"); shell.expect("Stopped"); shell.expect("<prompt>")
            shell.type("bg\n"); shell.expect("&"); shell.expect("<prompt>")
            os.kill(command, signal.SIGUSR1)
            shell.type("echo $((20 + 5)) is between\n"); between = shell.expect("25 is between"); shell.expect("<prompt>")
            assert "press" not in between, between
            shell.type("fg\n"); shell.expect("press y"); shell.type("y"); shell.expect("press o"); shell.type("o")
            shell.expect("status 200;"); os.kill(command, signal.SIGUSR1)
            shell.type("end\n"); shell.expect("granted"); shell.expect("<prompt>")
            """#)
    }
}
