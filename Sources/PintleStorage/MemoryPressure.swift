// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// Tells when memory runs short, so that what can be had again is let go before the kernel kills a process.
///
/// The kernel is asked to tell of stalls (PSI): of processes of the own control group, or of the whole machine, that have
/// waited for memory for a tenth of two seconds. Of a control group of version 2 it tells also when its limits are met.
/// Waiting costs a thread, which sleeps, and no time.
public final class MemoryPressure: Sendable {
    /// A file by which the kernel tells.
    public struct Source: Sendable, Hashable {
        /// The kinds of files.
        public enum Kind: Sendable, Hashable {
            /// Stalls: `memory.pressure` of a control group, or `/proc/pressure/memory`.
            case stalls
            /// Limits that were met: `memory.events` of a control group.
            case limits
        }

        /// Its kind.
        public let kind: Kind
        /// Where it is.
        public let path: String
    }

    /// A source that cannot be watched, with the reason.
    public struct Refusal: Sendable, Hashable, CustomStringConvertible {
        /// The source.
        public let source: Source
        /// A few words.
        public let reason: String

        /// A sentence without a full stop.
        public var description: String {
            "\(self.source.path) cannot be watched for memory running short: \(self.reason)"
        }
    }

    /// Ends with its last reference.
    public final class Subscription: Sendable {
        private let end: @Sendable () -> Void

        init(_ end: @escaping @Sendable () -> Void) { self.end = end }

        deinit { self.end() }
    }

    /// The pressure on this process: of its control group, where it has one of its own, or else of the machine. Watched from
    /// the first question on until the process ends.
    public static let system = MemoryPressure()

    /// What is watched from the beginning; empty where nothing can be, and then the pressure never rises.
    public let sources: [Source]
    /// What cannot be watched. A control group of version 1, a kernel without PSI, and a sandbox have some here.
    public let refusals: [Refusal]
    private let subscribers: Subscribers
    private let watch: PressureWatch?

    /// The files of this process's control group and of the machine.
    private convenience init() {
        let group = ControlGroup.folder(
            mounts: FileBytes.text("/proc/self/mountinfo"), membership: FileBytes.text("/proc/self/cgroup"))
        self.init(
            // The group's own, as far as it has one.
            stalls: (group.map { ["\($0)/memory.pressure"] } ?? []) + ["/proc/pressure/memory"],
            limits: group.map { "\($0)/memory.events" })
    }

    /// - Parameters:
    ///   - stalls: files of stalls, of which the first one is watched that can be.
    ///   - limits: a file of limits.
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

    /// Watches a descriptor that is ready with urgent data at each stall, as those of the kernel are.
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

    /// Calls `work` each time when the pressure rises, until the subscription ends. On a thread of the watch's own, one call
    /// after the other: it must not wait.
    public func whenItRises(_ work: @escaping @Sendable () -> Void) -> Subscription { self.subscribers.add(work) }

    /// What is called when the pressure rises.
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
