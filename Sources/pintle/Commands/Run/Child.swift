// SPDX-License-Identifier: Apache-2.0

internal import CPintleProcess
internal import Glibc
internal import PintleSystem

/// A program with its words, byte by byte: names of files need not be text.
struct ChildCommand: Sendable {
    /// A path.
    let program: String
    let arguments: [[UInt8]]
    /// `NAME=value` each.
    let environment: [[UInt8]]
    /// A network of its own, with this port of its loopback for the proxy; nil for that of this process.
    var port: UInt16?

    /// The environment of this process with other values.
    static func environment(with variables: [ProxyEnvironment.Variable]) -> [[UInt8]] {
        let own = Set(variables.map(\.name))
        let others = Inherited.variables.filter { !own.contains(String($0.prefix { $0 != "=" })) }
        return (others + variables.map { "\($0.name)=\($0.value)" }).map(\.systemBytes)
    }
}

/// A child between its fork and its program: where it has a network of its own it waits there for its proxy.
struct Child {
    struct Failure: Error {
        let step: pintle_child_step
        let cause: SystemError
    }

    private var forked = pintle_forked()
    private let command: ChildCommand
    private let terminal: ForegroundTerminal?

    var process: pid_t { self.forked.process }
    /// The listener in its network; nil where it has none of its own.
    var listener: Int32? { self.forked.listener >= 0 ? self.forked.listener : nil }

    /// Forks.
    ///
    /// - Parameter terminal: whose foreground it gets; nil to stay in this process's group.
    init(_ command: ChildCommand, terminal: ForegroundTerminal?) throws(Failure) {
        self.command = command
        self.terminal = terminal
        try self.fork(command.program, command.arguments)
    }

    private mutating func fork(_ program: String, _ arguments: [[UInt8]]) throws(Failure) {
        let texts = { (list: [[UInt8]]) -> [UnsafeMutablePointer<CChar>?] in
            list.map { bytes in Self.copy(of: bytes) }
                + [nil]
        }
        let (words, variables) = (texts(arguments), texts(self.command.environment))
        // The child has a copy of its own.
        defer { for text in words + variables { text?.deallocate() } }
        let code = program.withSystemText { program in
            words.withUnsafeBufferPointer { words in
                variables.withUnsafeBufferPointer { variables in
                    var child = pintle_child(
                        program: program, arguments: words.baseAddress, environment: variables.baseAddress,
                        terminal: self.terminal?.descriptor ?? -1, port: Int32(self.command.port ?? 0))
                    return pintle_fork(&child, &self.forked)
                }
            }
        }
        guard code == 0 else { throw self.failure }
    }

    /// A string of C; to be freed.
    private static func copy(of bytes: [UInt8]) -> UnsafeMutablePointer<CChar> {
        let text = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
        for (index, byte) in bytes.enumerated() { text[index] = CChar(bitPattern: byte) }
        text[bytes.count] = 0
        return text
    }

    /// Lets it run its program.
    ///
    /// - Parameter prepare: called with the process that is about to run it. That is another one if the shell turns out to be
    ///   what runs it.
    mutating func execute(_ prepare: (pid_t) -> Void) throws(Failure) {
        prepare(self.process)
        guard pintle_execute(&self.forked) != 0 else { return }
        let failure = self.failure
        // A script that names no interpreter is the shell's, as for execvp(3). The network that it had is gone with it.
        guard failure.step == PINTLE_CHILD_PROGRAM, failure.cause.code == ENOEXEC, self.command.port == nil else {
            throw failure
        }
        let shell = "/bin/sh"
        let words = [Array(shell.utf8), self.command.program.systemBytes] + self.command.arguments.dropFirst()
        try self.fork(shell, words)
        prepare(self.process)
        guard pintle_execute(&self.forked) == 0 else { throw self.failure }
    }

    /// Ends it before it runs anything.
    func abandon() {
        close(self.forked.control)
        var status: Int32 = 0
        while waitpid(self.process, &status, 0) < 0, errno == EINTR {}
    }

    private var failure: Failure {
        Failure(step: pintle_child_step(UInt32(self.forked.step)), cause: SystemError(self.forked.code))
    }
}
