// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleTesting
import Testing

/// The ends of `pintle run`, and the signals that reach the command.
struct RunExitTests {
    private let stage: RunStage

    init() throws { self.stage = try RunStage("limits: {drain_timeout: 200ms}") }

    @Test(
        arguments: [
            (["true"], 0), (["false"], 1), (["sh", "-c", "exit 7"], 7), (["sh", "-c", "exit 125"], 125),
            (["sh", "-c", "kill -TERM $$"], 143), (["sh", "-c", "kill -KILL $$"], 137),
        ] as [([String], Int32)])
    func `the exit code is the command's own`(command: [String], code: Int32) throws {
        let process = try self.stage.run(command)
        #expect(process.exitCode == code, "\(process.lines)")
        #expect(process.output.isEmpty)
    }

    @Test(
        arguments: [
            (["nosuch"], 127, "nosuch: there is no such command"),
            (["./nosuch"], 127, "./nosuch: there is no such command"),
            (
                ["no such"], 127,
                "no such: there is no such command; write its words apart, or give the line to a shell: sh -c '…'"
            ),
            (["/tmp"], 126, "/tmp cannot be executed: it is a folder"),
            (["./pintle.yaml"], 126, "./pintle.yaml cannot be executed: permission denied"),
            (["./script"], 126, "./script cannot be executed: it names an interpreter that is not there"),
        ] as [([String], Int32, String)])
    func `what cannot be started is told as shells tell it`(command: [String], code: Int32, message: String) throws {
        chmod(try self.stage.folder.write("#!/nowhere/at/all\n", to: "script"), 0o700)
        let process = try self.stage.run(command)
        #expect(process.exitCode == code && process.errors == ["pintle run: \(message)"], "\(process.lines)")
    }

    @Test func `a script without an interpreter is the shell's`() throws {
        chmod(try self.stage.folder.write("echo \"$0 $1\"; exit 5\n", to: "script"), 0o700)
        let process = try self.stage.run(["./script", "word"])
        #expect(process.exitCode == 5 && process.output == ["./script word"], "\(process.lines)")
    }

    @Test(
        arguments: [
            ["run"], ["run", "true"], ["run", "--nosuch", "--", "true"], ["run", "--report", "pdf=x", "--", "true"],
            ["run", "--report", "json=-", "--", "true"], ["run", "--fail-on", "never-ever", "--", "true"],
            ["run", "--intercept", "a b", "--", "true"], ["run", "--learn", "broken.yaml", "--", "true"],
            ["run", "-c", "broken.yaml", "--", "true"], ["run", "-c", "nowhere.yaml", "--", "true"],
        ])
    func `what Pintle cannot do is 125, and the command is not run`(arguments: [String]) throws {
        try self.stage.folder.write("version: 1\nlimts: {}\n", to: "broken.yaml")
        let process = try PintleProcess.run(
            arguments.map { $0 == "true" ? "/usr/bin/touch" : $0 } + ["ran"], environment: RunStage.environment,
            folder: self.stage.folder.path)
        #expect(process.exitCode == 125 && !process.errors.isEmpty, "\(process.lines)")
        #expect(fileBytes("\(self.stage.folder.path)/ran") == nil)
    }

    @Test(arguments: [["run", "curl", "-s", "http://a.test/"], ["run", "--isolate", "true"]])
    func `LOOK-105 a command without -- before it is told of it`(arguments: [String]) throws {
        let process = try PintleProcess.run(
            arguments, environment: RunStage.environment, folder: self.stage.folder.path)
        #expect(process.exitCode == 125, "\(process.lines)")
        #expect(process.errors.last?.hasPrefix("Write the command and its options after --") == true)
    }

    // MARK: Signals

    /// Returns a program that prints `ready`, then the number of each of these signals.
    ///
    /// - Parameter ending: the program's code after that.
    private static func listener(_ ending: String) -> [String] {
        [
            "/usr/bin/python3", "-u", "-c",
            """
            import os, signal, sys
            def note(number, frame):
                os.write(1, b"got %d\\n" % number)
                \(ending)
            for number in (1, 2, 3, 10, 12, 15, 28): signal.signal(number, note)
            os.write(1, b"ready\\n")
            while True: signal.pause()
            """,
        ]
    }

    @Test func `signals reach the command, and SIGTERM ends what heeds it`() throws {
        let process = try self.stage.start(Self.listener("if number == 15: os._exit(9)"))
        try process.waitForLine("the command") { $0 == "ready" }
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGTERM] {
            process.signal(signal)
            try process.waitForLine("signal \(signal)") { $0 == "got \(signal)" }
        }
        #expect(try process.waitForExit() == 9)
        #expect(process.output == ["ready"] + [1, 2, 3, 10, 12, 28, 15].map { "got \($0)" })
    }

    @Test func `a command that does not heed SIGTERM is killed after drain_timeout`() throws {
        let process = try self.stage.start(Self.listener("pass"))
        try process.waitForLine("the command") { $0 == "ready" }
        process.signal(SIGTERM)
        #expect(try process.waitForExit() == 137)
        #expect(process.output == ["ready", "got 15"], "\(process.lines)")
    }

    /// Separate network namespaces may need separate user namespaces, which remove the command's link to its parent.
    @Test(arguments: [[], OwnNetworks.isAvailable ? ["--isolate"] : []])
    func `LOOK-110 a command whose proxy was killed gets SIGTERM`(options: [String]) throws {
        let process = try self.stage.start(options, Self.listener("if number == 15: os._exit(0)"))
        try process.waitForLine("the command") { $0 == "ready" }
        process.signal(SIGKILL)
        // The command has its output too, so this waits for both.
        #expect(try process.waitForExit() == 128 + SIGKILL)
        // The kernel may pass the command on from thread to thread while the proxy ends, with a signal each time.
        #expect(Set(process.output) == ["ready", "got 15"], "\(process.lines)")
    }

    @Test func `a stopped command goes on when Pintle is told to`() throws {
        let process = try self.stage.start([
            "/bin/sh", "-c", "echo $$; kill -STOP $$; echo on; exit 3",
        ])
        let line = try process.waitForLine("its number") { Int32($0) != nil }
        let child = try #require(Int32(line))
        // Waits for the kernel's `T`: nothing else tells when the process has stopped.
        while !String(decoding: fileBytes("/proc/\(child)/stat") ?? [], as: UTF8.self).contains(") T ") {
            sched_yield()
        }
        process.signal(SIGCONT)
        #expect(try process.waitForExit() == 3, "\(process.lines)")
    }

    /// A key at a terminal signals a whole group, but Pintle may see the command's end before its own handler has run. Here
    /// another process interrupts Pintle as soon as it has seen that end.
    @Test func `an interrupt that is noticed behind the command's end still ends Pintle by it`() throws {
        try self.stage.folder.write(
            "parent=$PPID\n(while kill -0 $$ 2>/dev/null; do :; done; kill -INT $parent) &\nkill -INT $$\n",
            to: "late")
        let process = try self.stage.shell(
            """
            exec /usr/bin/python3 -c 'import os, subprocess, sys
            code = subprocess.call([os.environ["pintle"], "run", "--", "sh", "./late"])
            sys.exit("killed by it" if code == -2 else str(code))'
            """)
        #expect(process.errors.last == "killed by it", "\(process.lines)")
    }

    // MARK: Initial state of the command

    @Test func `signals, mask and descriptors are those that Pintle was started with`() throws {
        // The C library reserves 32 and 33, so they cannot be reset.
        try self.stage.folder.write(
            """
            for name in SigBlk SigIgn; do
                value=$(sed -n "s/^$name:[^0-9]*//p" /proc/self/status)
                echo "$name $((0x$value & 0x7fffffff))"
            done
            ls -l /proc/self/fd | sed -n 's/.* \\([0-9]*\\) -> .*/\\1/p'

            """, to: "look")
        // A concurrent test may leave one of its descriptors open in the shell.
        let clean = "for fd in $(ls /proc/$$/fd); do case $fd in [012]) ;; *) eval \"exec $fd>&-\" ;; esac; done;"
        let plain = try self.stage.shell("\(clean) $pintle run -- sh ./look 2>/dev/null")
        let direct = try self.stage.shell("\(clean) sh ./look 2>/dev/null")
        #expect(plain.output == direct.output, "\(plain.lines)")
        let setup = "\(clean) trap '' HUP USR1; exec 7</etc/passwd;"
        let other = try self.stage.shell("\(setup) $pintle run -- sh ./look 2>/dev/null")
        let without = try self.stage.shell("\(setup) sh ./look 2>/dev/null")
        #expect(other.output == without.output && other.output.contains("7"), "\(other.lines)")
        #expect(other.output.contains("SigIgn 513") && plain.output.contains("SigIgn 0"), "\(other.lines)")
    }

    @Test func `words and variables need not be text`() throws {
        let process = try self.stage.shell(
            "export odd=$'\\xff\\n'; $pintle run -- sh -c 'printf %s \"$1$odd\" | od -An -tx1' x $'\\xfe' 2>/dev/null")
        #expect(process.output == [" fe ff 0a"], "\(process.lines)")
    }

    @Test func `nothing of Pintle's is between the lines of the command, and standard input is the command's`() throws {
        let process = try self.stage.shell("printf 'a\\nb\\n' | $pintle run -- sh -c 'cat; echo err >&2' 2>errors")
        #expect(process.output == ["a", "b"], "\(process.lines)")
        let errors = self.stage.text("errors").split(separator: "\n")
        #expect(errors.first == "err" && errors.count == 2, "\(errors)")
        #expect(
            errors.last
                == "pintle: sh made no request through the proxy; docs/clients.md says how to make programs use it")
    }
}
