// SPDX-License-Identifier: Apache-2.0

internal import CPintleLinux
package import Dispatch
internal import Glibc
internal import NIOConcurrencyHelpers
package import NIOCore
internal import PintleSystem

/// One thread with one epoll set: a SwiftNIO event loop that also watches descriptors which it does not own.
///
/// SwiftNIO's own loop cannot watch the sockets that libcurl dials. On this one a client's channel and the transfer that serves it
/// share a thread, so that an exchange needs no lock, no mailbox and no wake-up between its two halves.
///
/// A turn is: wait, tell the watchers of ready descriptors, run tasks that were sent to the thread, fire timers, run the
/// work that was put off to the end of the turn. `now` is read once a turn, so that one turn has one time.
package final class Loop: NIOSerialEventLoopExecutor, @unchecked Sendable {
    // Why @unchecked holds: `shared` is locked; `epoll` and `wakeup` are constants; everything in `local` is touched
    // only by the loop's own thread, which every accessor checks in debug builds.
    private struct Shared {
        var tasks: [LoopWork] = []
        /// Whether the thread may be waiting without having seen `tasks`.
        var needsWakeup = false
        var stopping = false
        /// Whether the thread has run its last task.
        var ended = false
        var thread: pthread_t?
        /// Kept here because the lock is taken once a turn in any case.
        var turnTimes = TurnTimes()
    }

    /// Its place among the loops of its group, for tables with an entry for each loop.
    package let index: Int
    private let shared = NIOLockedValueBox(Shared())
    private let epoll: Int32
    private let wakeup: Int32
    /// Not private: tests pass the time of timers by it.
    let local = LoopState()
    private let turnGuard: TurnGuard?

    /// Starts a thread of this name and waits until it runs.
    ///
    /// - Parameter turnGuard: told of turns that take too long.
    /// - Throws: `IOError` when no epoll set, event descriptor or thread can be had.
    package init(name: String, index: Int = 0, turnGuard: TurnGuard? = nil) throws {
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

    /// Tells `watcher` whenever `descriptor` is ready for one of `interest`, until ``unwatch(_:)``.
    ///
    /// Level-triggered. Watching a descriptor again changes its interest or its watcher. The connection of a descriptor that
    /// the kernel cannot watch is broken, and the watcher told of it in the next turn.
    package func watch(_ descriptor: Int32, for interest: Readiness, by watcher: any DescriptorWatcher) {
        guard !self.tryToWatch(descriptor, for: interest, by: watcher) else { return }
        // Nothing would ever be heard of it.
        shutdown(descriptor, Int32(SHUT_RDWR))
        self.execute { self.tellOfFailure(descriptor) }
    }

    private func tellOfFailure(_ descriptor: Int32) {
        self.local.watcher(of: descriptor)?.descriptorReady(descriptor, [.read, .write, .failed, .hungUp])
    }

    /// Watches as ``watch(_:for:by:)`` does.
    ///
    /// - Returns: whether the kernel does so: it may have no memory left (ENOMEM), or watch as many for this user as it may
    ///   (ENOSPC, fs.epoll.max_user_watches).
    func tryToWatch(_ descriptor: Int32, for interest: Readiness, by watcher: any DescriptorWatcher) -> Bool {
        self.assertInEventLoop()
        let (token, known) = self.local.set(watcher, for: descriptor)
        let operation = known ? PINTLE_EPOLL_MODIFY : PINTLE_EPOLL_ADD
        if pintle_epoll_control(self.epoll, operation, descriptor, interest.rawValue, token) == 0 { return true }
        // The kernel forgets a descriptor when it is closed; libcurl may close one before it tells us.
        let other = known ? PINTLE_EPOLL_ADD : PINTLE_EPOLL_MODIFY
        return pintle_epoll_control(self.epoll, other, descriptor, interest.rawValue, token) == 0
    }

    /// Stops watching `descriptor`; no event of the current turn reaches its watcher any more.
    package func unwatch(_ descriptor: Int32) {
        self.assertInEventLoop()
        guard self.local.isWatched(descriptor) else { return }
        // The kernel is told at the end of the turn: often somebody else watches the descriptor by then.
        self.local.remove(descriptor)
    }

    /// Stops watching a descriptor that is closed right after this: closing it tells the kernel the same.
    func forget(_ descriptor: Int32) {
        self.assertInEventLoop()
        self.local.forget(descriptor)
    }

    /// Tells whether somebody is told of this descriptor.
    func isWatched(_ descriptor: Int32) -> Bool { self.local.isWatched(descriptor) }

    /// Has another watcher told of a descriptor that is watched, for what it is watched for.
    func hand(_ descriptor: Int32, to watcher: any DescriptorWatcher) {
        self.assertInEventLoop()
        guard self.local.isWatched(descriptor) else {
            preconditionFailure("BUG: nobody watches the descriptor that is handed over")
        }
        _ = self.local.set(watcher, for: descriptor)
    }

    /// Pipes for what is moved between sockets on this loop.
    var pipes: PipePool { self.local.pipes }

    /// The number of pipes that hold bytes which are moved between sockets.
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

    /// True where the wait before this turn returned all that was ready: a turn attends to a limited number of events, and
    /// where there were as many, more may be waiting.
    package var sawAllEvents: Bool { self.local.sawAllEvents }

    /// The turns so far, that are over. On any thread.
    package var turnTimes: TurnTimes { self.shared.withLockedValue { $0.turnTimes } }

    /// Arms `timer`, or moves it when it is armed.
    package func arm(_ timer: LoopTimer, at deadline: NIODeadline) {
        self.assertInEventLoop()
        self.local.timers.arm(timer, at: deadline)
    }

    /// Disarms `timer`; nothing happens when it is not armed.
    package func disarm(_ timer: LoopTimer) {
        self.assertInEventLoop()
        self.local.timers.disarm(timer)
    }

    /// Runs `work` at the end of this turn, when every ready descriptor has been looked at.
    package func atEndOfTurn(_ work: any TurnEndWork) {
        self.assertInEventLoop()
        self.local.turnEnd.append(work)
    }

    /// The room in a receive buffer, in bytes.
    package static let receiveCapacity = ReceiveBuffers.capacity

    /// A buffer for what one read returns, lent out and given back so that most reads allocate nothing.
    package func takeReceiveBuffer() -> ByteBuffer { self.local.receiveBuffers.take() }

    /// Takes back a buffer that was lent.
    ///
    /// - Parameter isShared: whether somebody has a part of it, and may keep it for a while.
    package func giveBack(_ buffer: ByteBuffer, isShared: Bool = false) {
        self.local.receiveBuffers.giveBack(buffer, isShared: isShared)
    }

    // MARK: EventLoop

    /// Whether the caller runs on the loop's thread.
    package var inEventLoop: Bool { self.local.isCurrentThread }

    /// The present time, read anew.
    package var now: NIODeadline { .now() }

    /// Runs `task` on the loop's thread, in this turn's or the next one's place for tasks.
    package func execute(_ task: @escaping @Sendable () -> Void) { self.send(.task(task)) }

    /// Runs a piece of a task of Swift's as ``execute(_:)`` runs a closure.
    package func enqueue(_ job: consuming ExecutorJob) { self.send(.job(UnownedJob(job))) }

    /// One loop is one executor: comparing objects is enough to tell whether a task is on it.
    package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    func send(_ work: LoopWork) {
        let wake = self.shared.withLockedValue { shared in
            // Kept, it would never run and never go: such tasks hold what holds the loop.
            guard !shared.ended else { return false }
            shared.tasks.append(work)
            defer { shared.needsWakeup = false }
            return shared.needsWakeup
        }
        // A turn under way looks at the tasks before it waits.
        if self.inEventLoop { self.local.hasSentTasks = true } else if wake { pintle_wake(self.wakeup) }
    }

    /// Runs `task` on the loop's thread and gives its result.
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
        guard let thread = self.threadToEnd() else { return }
        pthread_join(thread, nil)
    }

    /// Ends the thread after the current turn, from any thread, and waits for nothing. Tasks sent later never run.
    package func end() {
        guard let thread = self.threadToEnd() else { return }
        pthread_detach(thread)
    }

    private func threadToEnd() -> pthread_t? {
        let thread = self.shared.withLockedValue { shared in
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
                guard let argument else { return nil }
                let start = Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue()
                pintle_name_thread(String(start.name.prefix(15)))
                Loop.blockBrokenPipeSignals()
                SignalStack.during { start.loop.run(start) }
                return nil
            }, Unmanaged.passRetained(start).toOpaque())
        guard code == 0 else { throw IOError(errnoCode: code, reason: "pthread_create") }
        self.shared.withLockedValue { $0.thread = thread }
        start.started.wait()
    }

    /// Has what splice(2) and OpenSSL send to a peer that is gone fail with EPIPE, which is all that they can be told of it:
    /// neither takes MSG_NOSIGNAL.
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
            // A turn may have given itself more to do, such as to resume whoever waits for what has come. That is done
            // without another wait, but once: descriptors and timers have their turn, too.
            if self.local.hasSentTasks {
                self.shared.withLockedValue { swap(&tasks, &$0.tasks) }
                self.local.hasSentTasks = false
                self.runTasks(&tasks, &meter)
            }
            while let timer = self.local.timers.popExpired(at: self.local.now) {
                timer.fire()
                meter?.note(.timer, timer.origin)
            }
            self.local.runTurnEnd { meter?.note(.turnEnd, .type(type(of: $0))) }
            self.local.forEachUnwatched {
                // It fails where the descriptor was closed meanwhile, which the kernel has noticed by itself.
                _ = pintle_epoll_control(self.epoll, PINTLE_EPOLL_DELETE, $0, 0, 0)
            }
            self.endTurn(&meter)
        }
        // Work that the last turn has put off is done: channels that it has closed keep their promises.
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

    /// Takes the tasks that other threads sent, and says how long the next wait may be: in milliseconds, -1 for ever.
    ///
    /// - Returns: nil when the loop is to end.
    private func readyToWait(_ tasks: inout [LoopWork]) -> Int32? {
        let turn = self.local.finishedTurn
        let isStopping = self.shared.withLockedValue { shared in
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
        // What was sent before the end is still done.
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
