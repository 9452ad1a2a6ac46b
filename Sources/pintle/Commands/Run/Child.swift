// SPDX-License-Identifier: Apache-2.0

internal import CPintleProcess
internal import Glibc
internal import PintleMessage
internal import PintlePolicy
internal import PintleStub
internal import PintleSystem

/// A program with its arguments and environment as bytes, because names of files need not be text.
struct ChildCommand: Sendable {
    /// The path of the program.
    let program: String
    let arguments: [[UInt8]]
    /// The variables, each as `NAME=value`.
    let environment: [[UInt8]]
    /// The port of the proxy on the loopback of a network of the child's own; nil if the child shares this process's
    /// network.
    var port: UInt16?
    /// True if connections to any address are captured in that network.
    var captures = false
    /// The files that are not the machine's, with a network of the child's own.
    var files: CommandFiles?
    /// True if the child sees and signals its own processes alone, with a network of its own.
    var hidesProcesses = false

    /// Returns the environment of this process with some variables replaced.
    ///
    /// - Parameters:
    ///   - credentials: their values are replaced by placeholders, in whichever variables they are.
    ///   - secret: a variable that is left out.
    static func environment(
        with variables: [ProxyEnvironment.Variable], hiding credentials: [CredentialConfiguration] = [],
        without secret: String? = nil
    ) -> [[UInt8]] {
        let placed = credentials.compactMap { credential in
            credential.variable.map { "\($0)=\(credential.placeholder ?? "")" }
        }
        let own = Set(variables.map(\.name) + credentials.compactMap(\.variable))
        let others = Inherited.variables.filter { entry in
            let name = String(entry.prefix { $0 != "=" })
            return !own.contains(name) && name != secret
        }
        // The longest first: a short value may be a part of a long one.
        let secrets = credentials.sorted { $0.value.utf8.count > $1.value.utf8.count }
        let hidden = others.map { entry in
            secrets.reduce(entry) { $0.replacing($1.value, with: $1.placeholder ?? "") }
        }
        return (hidden + placed + variables.map { "\($0.name)=\($0.value)" }).map(\.systemBytes)
    }
}

/// The addresses of loopback at which the system's resolver asks for names.
private struct LoopbackResolvers {
    /// In the processor's byte order.
    var v4: [UInt32] = []
    var hasV6 = false

    init() {
        for address in ResolverFile.loopbackServers(in: FileBytes.text("/etc/resolv.conf")) {
            if address.family == .v6 {
                self.hasV6 = true
            } else {
                self.v4.append(UInt32(truncatingIfNeeded: address.low))
            }
        }
    }
}

/// C strings for the arguments of one call.
private struct SystemTexts {
    private var all: [UnsafeMutablePointer<CChar>] = []

    mutating func text(_ bytes: [UInt8]) -> UnsafeMutablePointer<CChar> {
        let text = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
        for (index, byte) in bytes.enumerated() { text[index] = CChar(bitPattern: byte) }
        text[bytes.count] = 0
        self.all.append(text)
        return text
    }

    /// Returns a list that ends with a null pointer.
    mutating func list(_ texts: [[UInt8]]) -> [UnsafeMutablePointer<CChar>?] {
        texts.map { self.text($0) } + [nil]
    }

    mutating func place(_ place: CommandFiles.Place) -> pintle_place {
        let kind: pintle_place_kind
        var target: UnsafeMutablePointer<CChar>?
        switch place.kind {
        case .socket: kind = PINTLE_PLACE_SOCKET
        case .new: kind = PINTLE_PLACE_NEW
        case .folder: kind = PINTLE_PLACE_FOLDER
        case .layer: kind = PINTLE_PLACE_LAYER
        case .kept: kind = PINTLE_PLACE_KEPT
        case .processes: kind = PINTLE_PLACE_PROCESSES
        case .link(let path):
            kind = PINTLE_PLACE_LINK
            target = self.text(path.systemBytes)
        case .copy(let path):
            kind = PINTLE_PLACE_COPY
            target = self.text(path.systemBytes)
        }
        return pintle_place(
            path: self.text(place.path.systemBytes), target: target, kind: Int32(kind.rawValue),
            layer: Int32(place.layer ?? -1), descriptor: -1, is_laid: 0)
    }

    mutating func deallocate() {
        for text in self.all { text.deallocate() }
        self.all = []
    }
}

/// A child between its fork and the start of its program. If it has a network of its own, it waits there for its proxy.
struct Child {
    struct Failure: Error {
        let step: pintle_child_step
        let cause: SystemError
        /// The file that is the cause; nil if none is.
        let path: String?
    }

    /// The listeners for captured connections, in the child's network.
    var captures: [Int32] { [self.forked.captures.0, self.forked.captures.1].filter { $0 >= 0 } }
    /// The sockets for questions for names, in the child's network.
    var resolvers: (udp: [Int32], tcp: [Int32]) {
        (
            [self.forked.resolvers_udp.0, self.forked.resolvers_udp.1].filter { $0 >= 0 },
            [self.forked.resolvers_tcp.0, self.forked.resolvers_tcp.1].filter { $0 >= 0 }
        )
    }
    /// The error for which only ports 80 and 443 are captured; nil if all are.
    var lackOfRules: SystemError? {
        self.command.captures && self.forked.rules_code != 0 ? SystemError(self.forked.rules_code) : nil
    }
    /// True if the kernel could not make the layers of ``CommandFiles``.
    var lacksLayers: Bool {
        self.command.port != nil && self.forked.flags & UInt32(PINTLE_NETWORK_LAYERS) == 0
    }
    /// A netlink socket that tells the sockets of the child's network; nil if it has none of its own.
    var diagnosis: Int32? { self.forked.diagnosis >= 0 ? self.forked.diagnosis : nil }

    private var forked = pintle_forked()
    private let command: ChildCommand
    private let terminal: ForegroundTerminal?

    var process: pid_t { self.forked.process }
    /// The listener in the child's network; nil if it has no network of its own.
    var listener: Int32? { self.forked.listener >= 0 ? self.forked.listener : nil }

    /// Forks the child.
    ///
    /// - Parameter terminal: the terminal whose foreground the child gets; nil to stay in this process's group.
    init(_ command: ChildCommand, terminal: ForegroundTerminal?) throws(Failure) {
        self.command = command
        self.terminal = terminal
        try self.fork(command.program, command.arguments)
    }

    private mutating func fork(_ program: String, _ arguments: [[UInt8]]) throws(Failure) {
        var texts = SystemTexts()
        // The child has its own copy.
        defer { texts.deallocate() }
        let (words, variables) = (texts.list(arguments), texts.list(self.command.environment))
        var places = (self.command.files?.places ?? []).map { texts.place($0) }
        let program = texts.text(program.systemBytes)
        let folder = (self.command.files?.folder).map { texts.text($0.systemBytes) }
        let asked = LoopbackResolvers()
        let code = words.withUnsafeBufferPointer { words in
            variables.withUnsafeBufferPointer { variables in
                asked.v4.withUnsafeBufferPointer { resolvers in
                    places.withUnsafeMutableBufferPointer { places in
                        var child = pintle_child(
                            program: program, arguments: words.baseAddress, environment: variables.baseAddress,
                            terminal: self.terminal?.descriptor ?? -1, port: Int32(self.command.port ?? 0),
                            captures: self.command.captures ? 1 : 0, resolvers: resolvers.baseAddress,
                            resolver_count: Int32(asked.v4.count), asks_v6_loopback: asked.hasV6 ? 1 : 0,
                            places: places.baseAddress, place_count: Int32(places.count), folder: folder,
                            hides_processes: self.command.hidesProcesses ? 1 : 0)
                        return pintle_fork(&child, &self.forked)
                    }
                }
            }
        }
        guard code == 0 else { throw self.failure }
    }

    /// Starts the program.
    ///
    /// - Parameter prepare: called with the process that is about to run the program. It is called again for another
    ///   process if the file turns out to be a script for the shell.
    mutating func execute(_ prepare: (pid_t) -> Void) throws(Failure) {
        prepare(self.process)
        guard pintle_execute(&self.forked) != 0 else { return }
        let failure = self.failure
        // A script without an interpreter line is run by the shell, as by execvp(3). With a network of its own this is not
        // possible, because the network is gone.
        guard failure.step == PINTLE_CHILD_PROGRAM, failure.cause.code == ENOEXEC, self.command.port == nil else {
            throw failure
        }
        let shell = "/bin/sh"
        let words = [Array(shell.utf8), self.command.program.systemBytes] + self.command.arguments.dropFirst()
        try self.fork(shell, words)
        prepare(self.process)
        guard pintle_execute(&self.forked) == 0 else { throw self.failure }
    }

    /// Ends the child before it runs a program.
    mutating func abandon() { pintle_abandon(&self.forked) }

    /// Ends what is left of the child's own processes when the child has ended.
    mutating func endProcesses() { pintle_end_processes(&self.forked) }

    private var failure: Failure {
        let places = self.command.files?.places ?? []
        let index = Int(self.forked.place)
        return Failure(
            step: pintle_child_step(UInt32(self.forked.step)), cause: SystemError(self.forked.code),
            path: places.indices.contains(index) ? places[index].path : nil)
    }
}
