// SPDX-License-Identifier: Apache-2.0

internal import CPintleLinux
package import Dispatch
internal import Glibc
package import NIOCore
internal import PintleSystem

/// One thread with one epoll set: a SwiftNIO event loop that also watches descriptors which it does not own.
///
/// SwiftNIO's own loop cannot watch the sockets that libcurl dials. On this loop a client's channel and the transfer that
/// serves it share a thread, so that an exchange needs no lock, no mailbox and no wake-up between its two halves.
///
/// A turn waits, notifies the watchers of ready descriptors, runs tasks that were sent to the thread, fires timers, and
/// runs the work that was put off to the end of the turn. `now` is read once a turn, so that all of a turn has one time.
package final class Loop: NIOSerialEventLoopExecutor, @unchecked Sendable {
    // Why @unchecked holds: `shared` is locked; `epoll` and `wakeup` are constants; everything in `local` is touched
    // only by the loop's own thread, which every accessor checks in debug builds.
    private struct Shared {
        var tasks: [LoopWork] = []
        /// True if the thread may be waiting without having seen `tasks`.
        var needsWakeup = false
        var stopping = false
        /// True if the thread has run its last task.
        var ended = false
        var thread: pthread_t?
        /// Kept under the lock, because it is taken once a turn in any case.
        var turnTimes = TurnTimes()
    }

    /// The index of the loop in its group, for tables with an entry for each loop.
    package let index: Int
    private let shared = Locked(Shared())
    private let epoll: Int32
    private let wakeup: Int32
    /// Not private: tests set the time of timers through it.
    let local = LoopState()
    private let turnGuard: LoopStallDetector?

    /// Starts a thread of this name and waits until it runs.
    ///
    /// - Parameter turnGuard: hears of turns that take too long; nil for none.
    /// - Throws: `IOError` if the system has no more epoll sets, event descriptors or threads.
    package init(name: String, index: Int = 0, turnGuard: LoopStallDetector? = nil) throws {
        self.index = index
        self.turnGuard = turnGuard
        self.epoll = pintle_epoll()
        guard self.epoll >= 0 else { throw IOError(errnoCode: errno, reason: "epoll_create1") }
        self.wakeup = pintle_eventfd()
        guard self.wakeup >= 0 else { throw IOError(errnoCode: errno, reason: "eventfd") }
        guard pintle_add_wakeup(self.epoll, self.wakeup) == 0 else {
            throw IOError(errnoCode: errno, reason: "epoll_ctl")
        }
        try self.startThread(name: name)
    }

    deinit {
        Glibc.close(self.wakeup)
        Glibc.close(self.epoll)
    }

    // MARK: Watching descriptors

    /// Notifies `watcher` whenever `descriptor` is ready for one of `interest`, until ``unwatch(_:)``.
    ///
    /// Level-triggered. Watching a descriptor again changes its interest or its watcher. If the kernel cannot watch a
    /// descriptor, its connection is broken, and the watcher hears of it in the next turn.
    package func watch(_ descriptor: Int32, for interest: Readiness, by watcher: any DescriptorWatcher) {
        if self.tryToWatch(descriptor, for: interest, by: watcher) { return }
        // No event would ever come for it.
        shutdown(descriptor, Int32(SHUT_RDWR))
        self.execute { self.tellOfFailure(descriptor) }
    }

    private func tellOfFailure(_ descriptor: Int32) {
        self.local.watcher(of: descriptor)?.descriptorReady(descriptor, [.read, .write, .failed, .hungUp])
    }

    /// Watches as ``watch(_:for:by:)`` does.
    ///
    /// - Returns: true if the kernel watches the descriptor. It may have no memory left (ENOMEM), or have reached its limit
    ///   for this user (ENOSPC, fs.epoll.max_user_watches).
    func tryToWatch(_ descriptor: Int32, for interest: Readiness, by watcher: any DescriptorWatcher) -> Bool {
        self.assertInEventLoop()
        let (token, known) = self.local.set(watcher, for: descriptor)
        let operation = known ? PINTLE_EPOLL_MODIFY : PINTLE_EPOLL_ADD
        if pintle_epoll_control(self.epoll, operation, descriptor, interest.rawValue, token) == 0 { return true }
        // The kernel forgets a descriptor when it is closed; libcurl may close one before it tells us.
        let other = known ? PINTLE_EPOLL_ADD : PINTLE_EPOLL_MODIFY
        return pintle_epoll_control(self.epoll, other, descriptor, interest.rawValue, token) == 0
    }

    /// Stops watching `descriptor`, if it is watched; its watcher gets no more events, not even of the current turn.
    package func unwatch(_ descriptor: Int32) {
        self.assertInEventLoop()
        // The kernel is told at the end of the turn: often another watcher has taken the descriptor by then.
        if self.local.isWatched(descriptor) { self.local.remove(descriptor) }
    }

    /// Stops watching a descriptor that is closed right after this; closing it removes it from the epoll set.
    func forget(_ descriptor: Int32) {
        self.assertInEventLoop()
        self.local.forget(descriptor)
    }

    /// True if the descriptor has a watcher.
    func isWatched(_ descriptor: Int32) -> Bool { self.local.isWatched(descriptor) }

    /// Gives a watched descriptor to another watcher, with the same interest.
    func hand(_ descriptor: Int32, to watcher: any DescriptorWatcher) {
        self.assertInEventLoop()
        guard self.local.isWatched(descriptor) else {
            preconditionFailure("BUG: nobody watches the descriptor that is handed over")
        }
        _ = self.local.set(watcher, for: descriptor)
    }

    /// Pipes that move bytes between sockets on this loop.
    var pipes: PipePool { self.local.pipes }

    /// The number of pipes that are moving bytes between sockets.
    package var pipesInUse: Int { self.local.pipes.taken }

    /// The most pipes that may be in use at once; beyond that bytes are copied.
    package var pipeLimit: Int {
        get { self.local.pipes.limit }
        set { self.local.pipes.limit = newValue }
    }

    // MARK: Time and the turn

    /// The time at which this turn began.
    package var turnTime: NIODeadline { self.local.now }

    /// The number of this turn.
    package var turn: UInt64 { self.local.turn }

    /// True if the wait before this turn returned all ready descriptors: a turn handles a limited number of events, and if
    /// it got that many, more may be waiting.
    package var sawAllEvents: Bool { self.local.sawAllEvents }

    /// The times of all finished turns. On any thread.
    package var turnTimes: TurnTimes { self.shared.withLock { $0.turnTimes } }

    /// Arms `timer`, or moves it if it is armed.
    package func arm(_ timer: LoopTimer, at deadline: NIODeadline) {
        self.assertInEventLoop()
        self.local.timers.arm(timer, at: deadline)
    }

    /// Disarms `timer`; does nothing if it is not armed.
    package func disarm(_ timer: LoopTimer) {
        self.assertInEventLoop()
        self.local.timers.disarm(timer)
    }

    /// Runs `work` at the end of this turn, after the events of all ready descriptors.
    package func atEndOfTurn(_ work: any TurnEndWork) {
        self.assertInEventLoop()
        self.local.turnEnd.append(work)
    }

    /// The room in a receive buffer, in bytes.
    package static let receiveCapacity = ReceiveBuffers.capacity

    /// Lends a buffer for one read; it is given back, so that most reads allocate nothing.
    package func takeReceiveBuffer() -> ByteBuffer { self.local.receiveBuffers.take() }

    /// Takes back a lent buffer.
    ///
    /// - Parameter isShared: true if other code holds a part of it, and may keep it for a while.
    package func giveBack(_ buffer: ByteBuffer, isShared: Bool = false) {
        self.local.receiveBuffers.giveBack(buffer, isShared: isShared)
    }

    // MARK: EventLoop

    /// True if the caller runs on the loop's thread.
    package var inEventLoop: Bool { self.local.isCurrentThread }

    /// The present time, read from the clock at each call.
    package var now: NIODeadline { .now() }

    /// Runs `task` on the loop's thread, with the other tasks of this turn or the next one.
    package func execute(_ task: @escaping @Sendable () -> Void) { self.send(.task(task)) }

    /// Runs a job of a Swift task as ``execute(_:)`` runs a closure.
    package func enqueue(_ job: consuming ExecutorJob) { self.send(.job(UnownedJob(job))) }

    /// One loop is one executor: comparing objects is enough to tell whether a task runs on it.
    package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    func send(_ work: LoopWork) {
        let wake = self.shared.withLock { shared in
            // A task kept now would never run and never be freed: such tasks hold objects that hold the loop.
            guard !shared.ended else { return false }
            shared.tasks.append(work)
            defer { shared.needsWakeup = false }
            return shared.needsWakeup
        }
        // A turn that is under way looks at the tasks before it waits.
        if self.inEventLoop { self.local.hasSentTasks = true } else if wake { pintle_wake(self.wakeup) }
    }

    /// Runs `task` on the loop's thread and returns its result.
    package func submit<T>(_ task: @escaping @Sendable () throws -> T) -> EventLoopFuture<T> {
        let promise = self.makePromise(of: T.self)
        self.execute { promise.assumeIsolated().completeWith(Result { try task() }) }
        return promise.futureResult
    }

    /// Runs `task` on the loop's thread at `deadline`, to the millisecond.
    package func scheduleTask<T>(deadline: NIODeadline, _ task: @escaping @Sendable () throws -> T) -> Scheduled<T> {
        let promise = self.makePromise(of: T.self)
        let timer = LoopTimer { promise.assumeIsolated().completeWith(Result { try task() }) }
        self.onLoop { self.arm(timer, at: deadline) }
        return Scheduled(promise: promise, cancellationTask: { self.onLoop { self.disarm(timer) } })
    }

    /// Runs `task` on the loop's thread after `delay`, to the millisecond.
    package func scheduleTask<T>(in delay: TimeAmount, _ task: @escaping @Sendable () throws -> T) -> Scheduled<T> {
        self.scheduleTask(deadline: .now() + delay, task)
    }

    /// Traps unless called on the loop's thread.
    package func preconditionInEventLoop(file: StaticString, line: UInt) {
        precondition(self.inEventLoop, "BUG: not on the loop's thread", file: file, line: line)
    }

    /// Traps when called on the loop's thread.
    package func preconditionNotInEventLoop(file: StaticString, line: UInt) {
        precondition(!self.inEventLoop, "BUG: this would block the loop", file: file, line: line)
    }

    /// Stops the loop as ``stop()`` does, waiting on `queue`.
    package func shutdownGracefully(queue: DispatchQueue, _ callback: @escaping @Sendable ((any Error)?) -> Void) {
        queue.async {
            self.stop()
            callback(nil)
        }
    }

    /// Ends the thread after the current turn and waits for it. Tasks sent later never run.
    package func stop() {
        self.preconditionNotInEventLoop()
        if let thread = self.threadToEnd() { pthread_join(thread, nil) }
    }

    /// Ends the thread after the current turn, from any thread, and waits for nothing. Tasks sent later never run.
    package func end() {
        if let thread = self.threadToEnd() { pthread_detach(thread) }
    }

    /// Returns nil if the end has begun.
    private func threadToEnd() -> pthread_t? {
        let thread = self.shared.withLock { shared in
            shared.stopping = true
            defer { shared.thread = nil }
            return shared.thread
        }
        if thread != nil { pintle_wake(self.wakeup) }
        return thread
    }

    private func onLoop(_ task: @escaping @Sendable () -> Void) {
        if self.inEventLoop { task() } else { self.execute(task) }
    }

    // MARK: The thread

    private func startThread(name: String) throws {
        let start = ThreadStart(loop: self, name: name)
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { preconditionFailure("BUG: the thread has lost its argument") }
                let start = Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue()
                pintle_name_thread(String(start.name.prefix(15)))
                Loop.blockBrokenPipeSignals()
                SignalStack.during { start.loop.run(start) }
                return nil
            }, Unmanaged.passRetained(start).toOpaque())
        guard code == 0 else { throw IOError(errnoCode: code, reason: "pthread_create") }
        self.shared.withLock { $0.thread = thread }
        start.started.wait()
    }

    /// Blocks SIGPIPE, so that writing to a closed connection fails with EPIPE in splice(2) and OpenSSL: neither takes
    /// MSG_NOSIGNAL.
    private static func blockBrokenPipeSignals() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    private func run(_ start: ThreadStart) {
        self.local.becomeCurrentThread()
        let events = UnsafeMutablePointer<pintle_event>.allocate(capacity: LoopState.eventCapacity)
        defer { events.deallocate() }
        var tasks: [LoopWork] = []
        var meter = self.turnGuard.map { TurnMeter($0, loop: start.name) }
        start.started.signal()
        while true {
            guard let patience = self.readyToWait(&tasks) else { break }
            let count = pintle_epoll_wait(self.epoll, events, Int32(LoopState.eventCapacity), patience)
            self.local.now = .now()
            self.local.turn += 1
            self.local.sawAllEvents = count < LoopState.eventCapacity
            meter?.begin()
            for index in 0..<max(0, Int(count)) {
                let event = events[index]
                guard let watcher = self.local.watcher(of: event.token) else { continue }
                watcher.descriptorReady(
                    Int32(truncatingIfNeeded: event.token & 0xFFFF_FFFF), Readiness(rawValue: event.events))
                meter?.note(.descriptor, .type(type(of: watcher)))
            }
            self.runTasks(&tasks, &meter)
            // Work of this turn may have sent tasks to the loop itself, for example to resume a task that waits for bytes
            // that have come. They run without another wait, but only once: descriptors and timers must not starve.
            if self.local.hasSentTasks {
                self.shared.withLock { swap(&tasks, &$0.tasks) }
                self.local.hasSentTasks = false
                self.runTasks(&tasks, &meter)
            }
            while let timer = self.local.timers.popExpired(at: self.local.now) {
                timer.fire()
                meter?.note(.timer, timer.origin)
            }
            self.local.runTurnEnd { meter?.note(.turnEnd, .type(type(of: $0))) }
            self.local.forEachUnwatched {
                // This fails if the descriptor was closed meanwhile, which has removed it from the epoll set.
                _ = pintle_epoll_control(self.epoll, PINTLE_EPOLL_DELETE, $0, 0, 0)
            }
            self.endTurn(&meter)
        }
        // Runs the work that the last turn put off: channels that it closed keep their promises.
        self.local.runTurnEnd { _ in }
        self.local.leave()
    }

    private func runTasks(_ tasks: inout [LoopWork], _ meter: inout TurnMeter?) {
        for work in tasks {
            switch work {
            case .task(let task): task()
            case .job(let job): job.runSynchronously(on: self.asUnownedSerialExecutor())
            }
            meter?.note(.task)
        }
        tasks.removeAll(keepingCapacity: true)
    }

    private func endTurn(_ meter: inout TurnMeter?) {
        let time = (NIODeadline.now() - self.local.now).nanoseconds
        let isSlow = meter?.end() ?? false
        self.local.finishedTurn = (time, isSlow)
    }

    /// Takes the tasks that other threads sent, and returns the longest time for the next wait, in milliseconds, -1 for
    /// ever.
    ///
    /// - Returns: nil if the loop is to end.
    private func readyToWait(_ tasks: inout [LoopWork]) -> Int32? {
        let turn = self.local.finishedTurn
        let isStopping = self.shared.withLock { shared in
            if let turn {
                shared.turnTimes.record(turn.nanoseconds)
                if turn.isSlow { shared.turnTimes.slow += 1 }
            }
            swap(&tasks, &shared.tasks)
            shared.needsWakeup = tasks.isEmpty
            self.local.hasSentTasks = false
            shared.ended = shared.stopping && tasks.isEmpty
            return shared.stopping
        }
        // Tasks that were sent before the end still run.
        if isStopping, tasks.isEmpty { return nil }
        guard tasks.isEmpty, self.local.turnEnd.isEmpty else { return 0 }
        guard let deadline = self.local.timers.earliest else { return -1 }
        let nanoseconds = (deadline - self.local.now).nanoseconds
        // Rounded up, so that a timer never fires early and the loop never spins for the last millisecond.
        return nanoseconds <= 0 ? 0 : Int32(clamping: (nanoseconds + 999_999) / 1_000_000)
    }
}

private final class ThreadStart: Sendable {
    let loop: Loop
    let name: String
    let started = DispatchSemaphore(value: 0)

    init(loop: Loop, name: String) {
        self.loop = loop
        self.name = name
    }
}
