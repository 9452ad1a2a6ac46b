// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// Notifies subscribers if memory runs short, so that they release what can be loaded again before the kernel kills a
/// process.
///
/// The kernel reports stalls (PSI): processes of the own control group, or of the whole machine, have waited for memory for
/// a tenth of two seconds. For a control group of version 2 it also reports that a memory limit was met. The watch costs
/// one thread, which sleeps, and no processor time.
public final class MemoryPressure: Sendable {
    /// A file by which the kernel reports memory pressure.
    public struct Source: Sendable, Hashable {
        /// The kinds of files.
        public enum Kind: Sendable, Hashable {
            /// Stalls: `memory.pressure` of a control group, or `/proc/pressure/memory`.
            case stalls
            /// Limits that were reached: `memory.events` of a control group.
            case limits
        }

        /// The kind of the file.
        public let kind: Kind
        /// The path of the file.
        public let path: String
    }

    /// A source that cannot be watched, with the reason.
    public struct Refusal: Sendable, Hashable, CustomStringConvertible {
        /// The source.
        public let source: Source
        /// The reason, in a few words.
        public let reason: String

        /// A sentence without a full stop.
        public var description: String {
            "\(self.source.path) cannot be watched for memory running short: \(self.reason)"
        }
    }

    /// A subscription, which ends with its last reference.
    public final class Subscription: Sendable {
        private let end: @Sendable () -> Void

        init(_ end: @escaping @Sendable () -> Void) { self.end = end }

        deinit { self.end() }
    }

    /// The memory pressure on this process: that of its control group if it has its own, otherwise that of the machine.
    /// Watched from the first access until the process ends.
    public static let system = MemoryPressure()

    /// The sources that are watched. If there are none, the pressure never rises.
    public let sources: [Source]
    /// The sources that cannot be watched: in a control group of version 1, on a kernel without PSI, or in a sandbox.
    public let refusals: [Refusal]
    private let subscribers: Subscribers
    private let watch: PressureWatch?

    /// Uses the files of this process's control group and of the machine.
    private convenience init() {
        let group = ControlGroup.folder(
            mounts: FileBytes.text("/proc/self/mountinfo"), membership: FileBytes.text("/proc/self/cgroup"))
        self.init(
            // Files of the group come first; it may not have them.
            stalls: (group.map { ["\($0)/memory.pressure"] } ?? []) + ["/proc/pressure/memory"],
            limits: group.map { "\($0)/memory.events" })
    }

    /// - Parameters:
    ///   - stalls: files that report stalls; the first one that can be watched is used.
    ///   - limits: a file that reports limits.
    package init(stalls: [String], limits: String?) {
        var (sources, refusals): ([Source], [Refusal]) = ([], [])
        let subscribers = Subscribers()
        self.subscribers = subscribers
        let watch: PressureWatch
        do throws(SystemError) {
            watch = try PressureWatch { subscribers.tell() }
        } catch {
            self.refusals =
                (stalls.map { Source(kind: .stalls, path: $0) }
                + [limits].compactMap { $0.map { Source(kind: .limits, path: $0) } }).map {
                    Refusal(source: $0, reason: error.description)
                }
            self.sources = []
            self.watch = nil
            return
        }
        func add(_ source: Source) -> Bool {
            do throws(SystemError) {
                try watch.add(source)
                sources.append(source)
                return true
            } catch {
                refusals.append(Refusal(source: source, reason: error.description))
                return false
            }
        }
        _ = stalls.first { add(Source(kind: .stalls, path: $0)) }
        if let limits { _ = add(Source(kind: .limits, path: limits)) }
        if !sources.isEmpty {
            do throws(SystemError) { try watch.start() } catch {
                refusals += sources.map { Refusal(source: $0, reason: error.description) }
                sources = []
            }
        }
        self.watch = sources.isEmpty ? nil : watch
        self.sources = sources
        self.refusals = refusals
    }

    /// Watches a descriptor that signals each stall as urgent data, as those of the kernel do.
    package init(stallsOf descriptor: Int32) throws {
        let subscribers = Subscribers()
        let watch = try PressureWatch { subscribers.tell() }
        watch.add(descriptor)
        try watch.start()
        self.subscribers = subscribers
        self.watch = watch
        self.sources = [Source(kind: .stalls, path: "descriptor \(descriptor)")]
        self.refusals = []
    }

    deinit { self.watch?.stop() }

    /// Calls `work` whenever the pressure rises, until the subscription ends. Calls are made one after the other on the
    /// thread of the watch, so `work` must not block.
    public func whenItRises(_ work: @escaping @Sendable () -> Void) -> Subscription { self.subscribers.add(work) }

    /// The closures that are called when the pressure rises.
    private final class Subscribers: Sendable {
        private struct State: Sendable {
            var next = 0
            var works: [Int: @Sendable () -> Void] = [:]
        }

        private let state = Locked(State())

        func add(_ work: @escaping @Sendable () -> Void) -> Subscription {
            let number = self.state.withLock { state in
                defer { state.next += 1 }
                state.works[state.next] = work
                return state.next
            }
            return Subscription { [weak self] in
                let work = self?.state.withLock { $0.works.removeValue(forKey: number) }
                withExtendedLifetime(work) {}
            }
        }

        func tell() {
            let works = self.state.withLock { $0.works }
            for (_, work) in works.sorted(by: { $0.key < $1.key }) { work() }
        }
    }
}
