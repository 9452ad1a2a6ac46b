// SPDX-License-Identifier: Apache-2.0

internal import CPintleProcess
internal import Glibc
internal import Logging
internal import PintleActivity
internal import PintleMessage
internal import PintlePolicy
internal import PintleProxy
internal import PintleSystem

/// One run of a command with its proxy, from the start of the first part to the end of the last.
struct ChildLaunch: Sendable {
    let policy: Policy
    /// The authority and its files; nil if nothing is intercepted.
    let trust: RunTrust?
    /// The path of the program.
    let program: String
    /// The command as bytes.
    let words: [[UInt8]]
    /// The value of `no_proxy`.
    let exempt: String
    /// The inherited JAVA_TOOL_OPTIONS.
    let javaOptions: String
    let isolation: Isolation
    let descriptors: OwnDescriptors
    let sinks: ExchangeSinks
    /// Seen by an isolated command.
    let credentialFiles: CredentialFiles
    /// Files with keys of Pintle's own, which an isolated command does not see.
    let keyFiles: [String]
    /// Shows the traffic in a browser; nil if that is not asked for.
    let window: RunWindow?

    /// The network of the command.
    enum Isolation: Sendable {
        /// This process's own.
        case none
        /// One whose only way out is the proxy; other connections are refused.
        case closed
        /// One whose only way out is the proxy; other connections are captured. Called with each name that may not be looked
        /// up, and the rule that says so.
        case captured(@Sendable (_ name: String, _ reason: String) -> Void)
    }

    private var isIsolated: Bool { if case .none = self.isolation { false } else { true } }
    private var captures: Bool { if case .captured = self.isolation { true } else { false } }

    /// The result of a run.
    struct Ended: Sendable {
        let end: ChildEnd
        /// True if Ctrl-C, or a SIGINT to Pintle, ended the command.
        let isInterrupted: Bool
        let past: PastConnections
        /// The number of attempts to bypass the proxy that the command's own network has refused.
        var refusedPast = 0
        /// The questions about destinations; nil if the proxy was not started.
        var questions: AskBoard?
    }

    func run(logger: Logger) async throws(CommandFailure) -> Ended {
        // Caught before the child exists, so that its end cannot be missed.
        let signals = try self.catchSignals()
        let modes = TerminalModes()
        let lifecycle = Lifecycle(logger: logger)
        let ended: Ended
        do throws(CommandFailure) {
            // One thread runs from the fork to the end of the command: the kernel treats the child as orphaned when the
            // thread that forked it ends.
            ended = try await ThreadPool.shared.result { () throws(CommandFailure) in
                try self.attend(signals, lifecycle, logger)
            }
        } catch {
            await lifecycle.stop(within: .zero)
            throw error
        }
        if case .killed = ended.end { modes?.restore() }
        // All records have been delivered when the exchanges have ended.
        await lifecycle.stop(within: min(self.drainTimeout, Self.patience))
        return ended
    }

    // MARK: Steps

    /// The time that exchanges may still take after their client has ended.
    private static let patience = Duration.seconds(1)

    private var drainTimeout: Duration { self.policy.configuration.limits.drainTimeout }

    /// Starts the proxy and the command, and blocks the thread until the command has ended. The proxy then still runs.
    private func attend(
        _ signals: SignalPipe, _ lifecycle: Lifecycle, _ logger: Logger
    ) throws(CommandFailure) -> Ended {
        let terminal = ForegroundTerminal()
        if !self.isIsolated, !self.policy.configuration.credentials.isEmpty {
            logger.warning(
                "without --isolate the command can read the values of credentials elsewhere, as in the environments of other processes of its user"
            )
        }
        // The child has created its network, and waits for a proxy in it.
        var isolated = self.isIsolated ? try self.isolate(terminal, logger) : nil
        let attempts = isolated.map { NoRouteCount(of: $0.process) }
        let (address, board): (ProxyAddress, AskBoard)
        do throws(CommandFailure) {
            let network = isolated.map { CommandNetwork($0, self.policy) }
            if case .captured(let tell) = self.isolation { try network?.answerNames(tell, in: lifecycle) }
            let server = try ServingProxy(
                self.policy, sinks: self.sinks,
                sockets: isolated?.listener.map { [$0] } ?? [], captured: network?.sockets ?? .none, logger: logger,
                in: lifecycle, authority: RunTrust.issuer(self.trust))
            try self.window?.open(on: server, in: lifecycle, logger)
            try lifecycle.serve()
            (address, board) = (server.address, server.active.questions)
        } catch {
            isolated?.abandon()
            throw error
        }
        var child: Child
        if let isolated { child = isolated } else { child = try self.fork(at: address, terminal: terminal) }
        var early: [pintle_signal] = []
        let watch = try self.execute(&child, address, terminal) { early += signals.take() }
        var supervisor = ChildSupervisor(
            child.process, signals: signals, terminal: terminal, patience: self.drainTimeout,
            self.questions(board, at: terminal, signals))
        supervisor.passOn(early)
        var ended = self.follow(&supervisor, watch)
        child.endProcesses()
        (ended.refusedPast, ended.questions) = (attempts?.attempts ?? 0, board)
        return ended
    }

    /// - Returns: nil if no question can be answered at a terminal.
    private func questions(
        _ board: AskBoard, at terminal: ForegroundTerminal?, _ signals: SignalPipe
    ) -> TerminalQuestions? {
        guard self.policy.configuration.destinations.asks else { return nil }
        guard let terminal, Keyboard.isUsable else {
            QuestionNotes.follow(board)
            return nil
        }
        return TerminalQuestions(board, at: terminal) { signals.wake() }
    }

    private func catchSignals() throws(CommandFailure) -> SignalPipe {
        do throws(SystemError) {
            return try SignalPipe(SignalRelay.caught)
        } catch {
            throw CommandFailure(.incomplete, "pintle run: there is no pipe for signals: \(error)")
        }
    }

    /// Returns the proxy's address inside the command's network, where every port is free.
    private func isolatedAddress() throws(CommandFailure) -> ProxyAddress {
        guard let address = self.policy.configuration.listen.first.flatMap(ProxyAddress.init) else {
            preconditionFailure("BUG: the private proxy of a network has a port")
        }
        return address
    }

    /// Forks a child with a network of its own, and tells of what the system does not let it hide.
    private func isolate(_ terminal: ForegroundTerminal?, _ logger: Logger) throws(CommandFailure) -> Child {
        let exposed = ExposedPlaces(
            self.policy.configuration.isolation.exposed, inherited: self.descriptors.inherited, words: self.words)
        for lack in exposed.lacks { logger.warning("isolate.expose: \(lack)") }
        self.descriptors.closeInChild(except: exposed.descriptors)
        var command = self.command(at: try self.isolatedAddress())
        var files = CommandFiles(exposing: exposed.sockets, environment: Inherited.environment)
        if let folder = files.folder, files.forgets(folder) {
            logger.warning("files that the command has written into \(folder.showingSystemBytes) are gone with it")
        }
        for copy in self.credentialFiles.copies { files.show(copy) }
        for file in self.keyFiles { files.hide(file) }
        let names = self.captures ? try NameFiles.make(Inherited.environment) : nil
        // Once the child has its mounts, the files are not needed at their first place.
        defer { names?.remove() }
        for copy in names?.copies ?? [] { files.show(copy) }
        command.files = files
        command.hidesProcesses = true
        let child: Child
        do throws(Child.Failure) {
            child = try Self.child(command, terminal, logger)
        } catch {
            throw CommandFailure(error, running: self.program)
        }
        if let lack = child.lackOfRules {
            logger.warning("the kernel has no nftables, so only ports 80 and 443 of the command are captured: \(lack)")
        }
        if child.lacksLayers {
            logger.warning(
                """
                the kernel makes no overlays for this user (Linux 5.11), so Unix sockets that services bind in /run while the \
                command runs are not hidden from it
                """)
        }
        return child
    }

    /// Forks a child with processes of its own, or among those of the machine if the system does not allow more.
    private static func child(
        _ command: ChildCommand, _ terminal: ForegroundTerminal?, _ logger: Logger
    ) throws(Child.Failure) -> Child {
        do throws(Child.Failure) {
            return try Child(command, terminal: terminal)
        } catch  where error.step == PINTLE_CHILD_PROCESSES {
            logger.warning(
                """
                the machine's processes are not hidden from the command, because \(error.path ?? "/proc") cannot be mounted \
                anew: \(error.cause); in a container, parts of its /proc may be masked
                """)
            var command = command
            command.hidesProcesses = false
            return try Child(command, terminal: terminal)
        }
    }

    private func command(at address: ProxyAddress) -> ChildCommand {
        let environment = ProxyEnvironment(
            proxy: address, exempt: self.exempt, javaOptions: self.javaOptions,
            trust: self.trust?.files)
        return ChildCommand(
            program: self.program, arguments: self.words,
            environment: ChildCommand.environment(
                with: environment.variables, hiding: self.policy.configuration.credentials,
                without: self.policy.configuration.ask.webhook?.variable),
            port: self.isIsolated ? address.port : nil, captures: self.captures)
    }

    private func fork(at address: ProxyAddress, terminal: ForegroundTerminal?) throws(CommandFailure) -> Child {
        self.descriptors.closeInChild()
        do throws(Child.Failure) {
            return try Child(self.command(at: address), terminal: terminal)
        } catch {
            throw CommandFailure(error, running: self.program)
        }
    }

    /// - Parameter prepare: called just before the child starts its program.
    /// - Returns: nil if connections past the proxy cannot be watched.
    private func execute(
        _ child: inout Child, _ address: ProxyAddress, _ terminal: ForegroundTerminal?, _ prepare: () -> Void
    ) throws(CommandFailure) -> BypassDetector? {
        let own = IPAddress(address.host).map { SocketTable.Endpoint(address: $0, port: address.port) }
        var watch: BypassDetector?
        do throws(Child.Failure) {
            try child.execute { process in
                _ = watch?.end()
                // In a network of its own the child cannot connect elsewhere; its attempts are counted.
                watch = self.isIsolated ? nil : own.flatMap { BypassDetector(root: process, proxy: $0) }
                prepare()
            }
            return watch
        } catch {
            _ = watch?.end()
            // The child may have received the terminal before its program turned out to be invalid.
            terminal?.takeBack(from: child.process)
            throw CommandFailure(error, running: self.program)
        }
    }

    private func follow(_ supervisor: inout ChildSupervisor, _ watch: BypassDetector?) -> Ended {
        let end = supervisor.wait()
        // If the child is in the foreground, a Ctrl-C does not reach Pintle.
        let isInterrupted =
            end == .killed(signal: SIGINT) && (supervisor.wasInterrupted || supervisor.terminal != nil)
        let past = watch?.end() ?? PastConnections(sight: self.isIsolated ? .all : .none)
        return Ended(end: end, isInterrupted: isInterrupted, past: past)
    }
}

extension CommandFailure {
    /// Creates an error that says why the command was not started.
    fileprivate init(_ failure: Child.Failure, running program: String) {
        let cause = failure.cause
        let remedy = "; \(NamespaceObstacle(cause).remedy)"
        switch failure.step {
        case PINTLE_CHILD_PROGRAM where cause.code == ENOENT:
            // The file existed when it was looked for.
            self.init(
                .cannotExecute, "pintle run: \(program) cannot be executed: it names an interpreter that is not there")
        case PINTLE_CHILD_PROGRAM:
            self.init(.cannotExecute, "pintle run: \(program) cannot be executed: \(cause)")
        case PINTLE_CHILD_NAMESPACE:
            self.init(.incomplete, "pintle run: there is no network of its own for the command: \(cause)\(remedy)")
        case PINTLE_CHILD_USER:
            self.init(.incomplete, "pintle run: the user cannot be told to the command's namespace: \(cause)\(remedy)")
        case PINTLE_CHILD_LOOPBACK:
            self.init(
                .incomplete,
                "pintle run: the loopback of the command's network cannot be switched on: \(cause)\(remedy)")
        case PINTLE_CHILD_ROUTES:
            self.init(
                .incomplete, "pintle run: the command's network cannot be given all addresses: \(cause)\(remedy)")
        case PINTLE_CHILD_RESOLVER:
            self.init(.incomplete, "pintle run: nothing can answer for names in the command's network: \(cause)")
        case PINTLE_CHILD_CAPABILITIES:
            self.init(.incomplete, "pintle run: the command cannot be kept from changing its network: \(cause)")
        case PINTLE_CHILD_FILES where failure.path == nil && cause.code == EINVAL:
            self.init(
                .incomplete,
                "pintle run: the command can have no mounts of its own, since the root folder is no mount point, as in some "
                    + "chroots; mount it over itself first: mount --bind FOLDER FOLDER")
        case PINTLE_CHILD_FILES:
            let place = failure.path.map { " (\($0.showingSystemBytes))" } ?? ""
            self.init(
                .incomplete,
                "pintle run: the machine's Unix sockets cannot be hidden from the command\(place): \(cause)\(remedy)")
        case PINTLE_CHILD_LISTENER:
            self.init(.incomplete, "pintle run: nothing can listen in the command's network: \(cause)")
        case PINTLE_CHILD_SOCKETS:
            self.init(
                .incomplete,
                "pintle run: sockets that reach past the command's network cannot be refused: \(cause); --isolate needs "
                    + "filters of system calls (seccomp(2))")
        case PINTLE_CHILD_TERMINAL:
            self.init(.incomplete, "pintle run: the terminal cannot be given to the command: \(cause)")
        default: self.init(.incomplete, "pintle run: no process can be started: \(cause)")
        }
    }
}
