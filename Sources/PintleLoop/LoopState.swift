// SPDX-License-Identifier: Apache-2.0

internal import CPintleLinux
internal import Glibc
internal import NIOCore

/// The operations that a descriptor is ready for, in epoll's own bits.
package struct Readiness: OptionSet, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Bytes, a connection, or the end of the stream can be read.
    package static let read = Readiness(rawValue: 0x001)
    /// Bytes can be written.
    package static let write = Readiness(rawValue: 0x004)
    /// The descriptor failed; always reported.
    package static let failed = Readiness(rawValue: 0x008)
    /// Both directions are closed; always reported.
    package static let hungUp = Readiness(rawValue: 0x010)

    // Spelt out, because a set's literals are built by code that is not specialized in other modules.

    /// Ready for nothing.
    package init() { self.rawValue = 0 }

    /// True if the descriptor ``failed`` or ``hungUp``.
    package var isBroken: Bool { self.rawValue & (Self.failed.rawValue | Self.hungUp.rawValue) != 0 }
}

/// An object that is notified on the loop's thread when a descriptor is ready.
package protocol DescriptorWatcher: AnyObject {
    /// The descriptor is ready for one of the operations that it is watched for, or failed.
    func descriptorReady(_ descriptor: Int32, _ readiness: Readiness)
}

/// Work that is collected during a turn and done once at its end.
package protocol TurnEndWork: AnyObject {
    /// Does the work.
    func runAtEndOfTurn()
}

/// A piece of work that is sent to a loop.
enum LoopWork: Sendable {
    case task(@Sendable () -> Void)
    /// A job of a Swift task, which needs no closure of its own.
    case job(UnownedJob)
}

/// The state that only the loop's thread uses.
final class LoopState {
    /// The most events that one turn handles; the next turn handles the rest, after tasks and timers.
    static let eventCapacity = 128

    var now = NIODeadline.now()
    var turn: UInt64 = 0
    var sawAllEvents = true
    /// The elapsed time of the previous turn, and true if the guard found it too long; nil before the first turn.
    var finishedTurn: (nanoseconds: Int64, isSlow: Bool)?
    /// True if the thread has sent tasks to itself that have not been taken yet.
    var hasSentTasks = false
    var timers = TimerHeap()
    var turnEnd: [any TurnEndWork] = []
    var receiveBuffers = ReceiveBuffers()
    let pipes = PipePool()
    private var turnEndRunning: [any TurnEndWork] = []
    private var entries: [Entry] = []
    /// Descriptors that have lost their watcher, and that epoll may still know.
    private var unwatched: [Int32] = []
    private var thread: pthread_t?

    private struct Entry {
        var watcher: (any DescriptorWatcher)?
        /// True if epoll is believed to know the descriptor.
        var isRegistered = false
        /// Distinguishes an event of a closed descriptor from one of a later descriptor with the same number.
        var generation: UInt32 = 0

        mutating func set(_ watcher: any DescriptorWatcher, for descriptor: Int32) -> (
            token: UInt64, isRegistered: Bool
        ) {
            if self.watcher == nil { self.generation &+= 1 }
            self.watcher = watcher
            defer { self.isRegistered = true }
            return (UInt64(self.generation) << 32 | UInt64(UInt32(bitPattern: descriptor)), self.isRegistered)
        }
    }

    var isCurrentThread: Bool {
        guard let thread else { return false }
        return pthread_equal(thread, pthread_self()) != 0
    }

    func becomeCurrentThread() { self.thread = pthread_self() }

    /// Releases all watchers and pending work: watchers often hold the loop.
    func leave() {
        self.entries.removeAll()
        self.turnEnd.removeAll()
        self.timers.removeAll()
    }

    func isWatched(_ descriptor: Int32) -> Bool {
        Int(descriptor) < self.entries.count && self.entries[Int(descriptor)].watcher != nil
    }

    /// Returns the token to give to epoll, and true if epoll knows the descriptor already.
    func set(_ watcher: any DescriptorWatcher, for descriptor: Int32) -> (token: UInt64, isRegistered: Bool) {
        let index = Int(descriptor)
        while self.entries.count <= index {
            self.entries.append(contentsOf: repeatElement(Entry(), count: max(64, index)))
        }
        return self.entries[index].set(watcher, for: descriptor)
    }

    /// Removes the watcher of a descriptor; epoll is told at the end of the turn, unless the descriptor has a watcher again
    /// by then.
    func remove(_ descriptor: Int32) {
        self.entries[Int(descriptor)].watcher = nil
        self.unwatched.append(descriptor)
    }

    /// Removes the watcher of a descriptor that is about to be closed; closing it removes it from the epoll set.
    func forget(_ descriptor: Int32) {
        // It was never watched.
        guard Int(descriptor) < self.entries.count else { return }
        self.entries[Int(descriptor)].watcher = nil
        self.entries[Int(descriptor)].isRegistered = false
    }

    /// Passes each descriptor that epoll is to forget to `body`.
    func forEachUnwatched(_ body: (Int32) -> Void) {
        while let descriptor = self.unwatched.popLast() {
            guard self.entries[Int(descriptor)].watcher == nil, self.entries[Int(descriptor)].isRegistered else {
                continue
            }
            self.entries[Int(descriptor)].isRegistered = false
            body(descriptor)
        }
    }

    func watcher(of descriptor: Int32) -> (any DescriptorWatcher)? {
        Int(descriptor) < self.entries.count ? self.entries[Int(descriptor)].watcher : nil
    }

    func watcher(of token: UInt64) -> (any DescriptorWatcher)? {
        let index = Int(token & 0xFFFF_FFFF)
        guard index < self.entries.count else { return nil }
        let entry = self.entries[index]
        return entry.generation == UInt32(token >> 32) ? entry.watcher : nil
    }

    /// Does the work that was put off; `note` is called after each piece.
    func runTurnEnd(_ note: (any TurnEndWork) -> Void) {
        swap(&self.turnEnd, &self.turnEndRunning)
        for work in self.turnEndRunning {
            work.runAtEndOfTurn()
            note(work)
        }
        self.turnEndRunning.removeAll(keepingCapacity: true)
    }
}
