// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleTesting
import Testing

/// `pintle run` at a terminal, under an interactive shell with typed input.
///
/// A Python program types, since Python's standard library has pseudo-terminals. It waits only for output that must appear.
/// Each of its waits ends with the output so far if that does not come.
@Suite(.timeLimit(.minutes(15))) struct RunTerminalTests {
    private let folder: TemporaryFolder

    init() throws {
        self.folder = try TemporaryFolder()
        try self.folder.write("version: 1\n", to: "pintle.yaml")
        try self.folder.write(TerminalShell.python, to: "shell.py")
        try self.folder.write(Self.command, to: "command.py")
    }

    /// A program that says which signals and lines come to it.
    ///
    /// Python runs a handler between two of its instructions, or if a signal interrupts a call. A signal that comes just before a
    /// call does neither until that call ends, so the program waits for the number that a signal writes at once, too. In the
    /// background it has to read, for the terminal to stop it.
    private static let command = """
        import os, select, signal, sys, tty
        def say(*words): os.write(1, (" ".join(map(str, words)) + ";\\r\\n").encode())
        numbers, writes = os.pipe2(os.O_NONBLOCK)
        signal.set_wakeup_fd(writes)
        for number in (signal.SIGINT, signal.SIGCONT, signal.SIGQUIT):
            signal.signal(number, lambda number, frame: say("signal", int(number)))
        signal.signal(signal.SIGWINCH, lambda number, frame: say("size", *os.get_terminal_size(0)))
        say("foreground", os.tcgetpgrp(0) == os.getpgrp(), "own", os.getpgrp() == os.getpid())
        while True:
            if os.tcgetpgrp(0) == os.getpgrp() and numbers in select.select([0, numbers], [], [])[0]:
                os.read(numbers, 100)
                continue
            word = os.read(0, 100).decode()
            if word == "raw\\n":
                tty.setraw(0)
                say("raw")
            elif word == "end\\n": sys.exit(4)
            elif word == "k": os.kill(os.getpid(), signal.SIGKILL)
            else: say("read", repr(word))
        """

    private func perform(_ script: String) async throws { try await TerminalShell.perform(script, in: self.folder) }

    @Test func `keys reach the command alone and once, and Ctrl-Z, fg and bg work`() async throws {
        try await self.perform(
            #"""
            shell = Shell()
            shell.type(run); shell.expect("foreground True own True;")
            shell.type("one\n"); shell.expect("read 'one\\n';")
            shell.type("\x03"); shell.expect("signal 2;")
            shell.type("\x1c"); shell.expect("signal 3;")
            shell.type("\x1a"); shell.expect("Stopped"); shell.expect("<prompt>")
            shell.type("echo $((20 + 3)) is between\n"); shell.expect("23 is between"); shell.expect("<prompt>")
            shell.type("fg\n"); shell.expect("signal 18;")
            shell.type("two\n"); shell.expect("read 'two\\n';")
            shell.type("\x1a"); shell.expect("Stopped"); shell.expect("<prompt>")
            # In the background it may not read from the terminal, and is stopped again.
            shell.type("bg\n"); shell.expect("signal 18;")
            shell.type("until jobs | grep -q Stopped; do :; done; echo $((20 + 4)) is stopped\n")
            shell.expect("24 is stopped"); shell.expect("<prompt>")
            shell.type("fg\n"); shell.expect("signal 18;")
            shell.type("end\n"); between = shell.expect("no request through the proxy")
            # A program that goes on may be told so twice.
            assert "signal" not in between.replace("signal 18;", ""), between
            shell.expect("<prompt>"); shell.type("echo code $?\n"); shell.expect("code 4")
            """#)
    }

    @Test(.enabled(if: OwnNetworks.isAvailable, "this system lets nobody make network namespaces"))
    func `a command with processes of its own is a job like any other`() async throws {
        try await self.perform(
            #"""
            shell = Shell()
            run = run.replace(" run ", " run --isolate ")
            shell.type(run); shell.expect("foreground True own True;")
            shell.type("\x03"); shell.expect("signal 2;")
            shell.type("\x1a"); shell.expect("Stopped"); shell.expect("<prompt>")
            shell.type("fg\n"); shell.expect("signal 18;")
            shell.type("two\n"); shell.expect("read 'two\\n';")
            shell.type("\x1a"); shell.expect("Stopped"); shell.expect("<prompt>")
            shell.type("bg\n"); shell.expect("signal 18;")
            shell.type("until jobs | grep -q Stopped; do :; done; echo $((20 + 4)) is stopped\n")
            shell.expect("24 is stopped"); shell.expect("<prompt>")
            shell.type("fg\n"); shell.expect("signal 18;")
            shell.type("end\n"); shell.expect("no request"); shell.expect("<prompt>")
            shell.type("echo code $?\n"); shell.expect("code 4"); shell.expect("<prompt>")
            shell.type(run.rstrip() + " | (trap '' INT; exec cat)\n"); shell.expect("foreground True")
            shell.type("\x03"); shell.expect("signal 2;")
            shell.type("\x1a"); shell.expect("Stopped"); shell.expect("<prompt>")
            shell.type("fg\n"); shell.expect("signal 18;")
            shell.type("end\n"); shell.expect("no request"); shell.expect("<prompt>")
            """#)
    }

    /// The SIGCONT of `fg` comes to Pintle while keys come to the command. On one processor the threads that take note of the two
    /// overtake each other.
    @Test func `each Ctrl-Z stops the command, however soon it comes behind fg`() async throws {
        try await self.perform(
            #"""
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
            shell = Shell()
            shell.type(run); shell.expect("own True;")
            for round in range(200):
                shell.type("\x1a"); shell.expect("Stopped"); shell.expect("<prompt>")
                shell.type("fg\n"); shell.expect("signal 18;")
                shell.type("two\n"); shell.expect("read 'two\\n';")
            shell.type("end\n"); shell.expect("no request"); shell.expect("<prompt>")
            """#)
    }

    @Test func `a job that went on in the background reads what is typed once it is in the foreground`() async throws {
        try await self.perform(
            #"""
            with open("later.py", "w") as file:
                file.write("import os, signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})\n")
                file.write("os.write(1, b'ready')\nsignal.sigwait({signal.SIGUSR1})\n")
                file.write("os.write(1, ('got ' + input()).encode())\n")
            shell = Shell()
            shell.type(os.environ["pintle"] + " run -- /usr/bin/python3 later.py\n"); shell.expect("ready")
            shell.type("\x1a"); shell.expect("Stopped"); shell.expect("<prompt>")
            shell.type("bg\n"); shell.expect("&"); shell.expect("<prompt>")
            # The shell sends no signal to what runs already.
            shell.type("fg\n"); os.kill(shell.job(), signal.SIGUSR1)
            shell.type("a line\n"); shell.expect("got a line")
            shell.expect("no request"); shell.expect("<prompt>")
            """#)
    }

    @Test(arguments: ["caught", "forked"])
    func `keys that come before the command reach it in a pipeline, too`(moment: String) async throws {
        try await self.perform(
            #"""
            def start():
                shell = Shell()
                shell.type(os.environ["pintle"] + " run -- /usr/bin/sleep 10000 | cat\n"); job = shell.job()
                until("a handler", lambda: catches(job, signal.SIGTSTP))
                if "\#(moment)" == "forked": until("a child", lambda: children(job))
                return shell, job
            shell, job = start()
            shell.type("\x03"); shell.expect("<prompt>")
            for round in range(5):
                shell, job = start()
                shell.type("\x1a")
                # Just before the command's program runs the key does nothing to it. (Another key would empty the terminal.)
                until("the command", lambda: [text(child, "comm") for child in children(job)] == ["sleep\n"])
                os.kill(children(job)[0], signal.SIGTSTP); shell.expect("Stopped"); shell.expect("<prompt>")
                os.killpg(job, signal.SIGKILL)
            """#)
    }

    @Test func `a new size is told, and raw mode passes every key`() async throws {
        try await self.perform(
            #"""
            shell = Shell()
            before = shell.modes()
            shell.type(run); shell.expect("own True;")
            shell.resize(33, 77); shell.expect("size 77 33;")
            shell.type("raw\n"); shell.expect("raw;")
            for key in ("\x03", "\x1a", "\x1c", "\x04", "x"):
                shell.type(key); shell.expect("read %r;" % key)
            assert shell.modes() != before
            # Killed, it cannot put the terminal back in order; Pintle does.
            shell.type("k"); shell.expect("no request through the proxy"); shell.expect("<prompt>")
            shell.type("stty -a; echo code $?\n")
            modes = shell.expect("code 0")
            assert " icanon" in modes and " echo " in modes and " isig" in modes.replace("\n", " "), modes
            """#)
    }

    @Test func `in a pipeline, a script and the background the command stays in the group of its job`() async throws {
        try await self.perform(
            #"""
            shell = Shell()
            shell.type(run.rstrip() + " | (trap '' INT; exec cat)\n"); shell.expect("foreground True own False;")
            shell.type("\x03"); shell.expect("signal 2;")
            shell.type("\x1a"); shell.expect("Stopped"); shell.expect("<prompt>")
            shell.type("fg\n"); shell.expect("signal 18;")
            shell.type("end\n"); shell.expect("no request"); shell.expect("<prompt>")
            open("script", "w").write(run + "echo next $((1 + 1))\n")
            shell.type("sh ./script\n"); shell.expect("foreground True own False;")
            shell.type("end\n"); shell.expect("no request"); shell.expect("next 2"); shell.expect("<prompt>")
            shell.type(run.rstrip() + " &\n"); shell.expect("foreground False own False;")
            shell.type("until jobs | grep -q Stopped; do :; done; echo $((20 + 4)) is stopped\n")
            shell.expect("24 is stopped"); shell.expect("<prompt>")
            shell.type("fg\n"); shell.expect("signal 18;")
            shell.type("end\n"); shell.expect("no request"); shell.expect("<prompt>")
            """#)
    }

    @Test func `Ctrl-C ends a script or a loop with the command in it, as without Pintle`() async throws {
        try await self.perform(
            #"""
            shell = Shell()
            open("script", "w").write(
                "\"$pintle\" run -- sh -c 'echo rea''dy; exec cat' 2>/dev/null\necho next $((1 + 1))\n")
            shell.type("bash ./script\n"); shell.expect("ready")
            shell.type("\x03"); before = shell.expect("<prompt>")
            assert "next 2" not in before, before
            shell.type("echo code $?\n"); shell.expect("$?"); code = shell.expect("<prompt>")
            assert "code 130" in code, code
            # An interactive shell gives up a loop, too.
            shell.type("for i in 1 2; do \"$pintle\" run -- sh -c 'echo rea''dy; exec cat'; done\n"); shell.expect("ready")
            shell.type("\x03"); before = shell.expect("<prompt>")
            assert "ready" not in before, before
            """#)
    }

    @Test(arguments: ["vim", "less"])
    func `programs that take the whole screen behave as ever`(name: String) async throws {
        guard access("/usr/bin/\(name)", X_OK) == 0 else { return }
        try self.folder.write((1...200).map { "line \($0)\n" }.joined(), to: "text")
        let keys =
            name == "vim"
            ? #"shell.expect("line 1"); shell.type(":stop\n"); shell.expect("Stopped"); shell.expect("<prompt>"); shell.type("fg\n"); shell.expect("line 1"); shell.type("ddggONEW\x1b:wq\n")"#
            : #"shell.expect("line 20"); shell.type("G"); shell.expect("line 200"); shell.type("q")"#
        try await self.perform(
            #"""
            shell = Shell()
            shell.resize(24, 80)
            shell.type(os.environ["pintle"] + " run -- \#(name == "vim" ? "vim -u NONE -N" : "less") text\n")
            \#(keys)
            shell.expect("no request"); shell.expect("<prompt>")
            shell.type("stty -a; echo code $?\n")
            modes = shell.expect("code 0")
            assert " icanon" in modes and " echo " in modes, modes
            """#)
        if name == "vim" {
            let text = String(decoding: fileBytes("\(self.folder.path)/text") ?? [], as: UTF8.self)
            #expect(text.hasPrefix("NEW\nline 2\nline 3\n"), "\(text.prefix(40))")
        }
    }
}
