// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleSession
internal import PintleSystem

/// Watches the machine's links, addresses and routes on a loop, and answers questions about them on any thread.
///
/// The kernel's messages only serve as a sign that something changed; then the tables are read again. The messages alone
/// are incomplete: routes that vanish with their link are not reported, and messages that do not fit into the buffer are
/// lost.
final class NetworkWatch: DescriptorWatcher, Sendable {
    private let loop: Loop
    private let news: RouteSocket
    private let questions: RouteSocket
    private let shared = Locked(Shared())

    private struct Shared {
        var state: NetworkState?
        var changed: (@Sendable (NetworkState) -> Void)?
        var isStopped = false
    }

    /// Opens the sockets, in the calling thread's network namespace.
    init(loop: Loop) throws(SessionError) {
        self.loop = loop
        // Listening begins before the first read of the tables, so that no change after it is missed.
        self.news = try RouteSocket(listening: true)
        self.questions = try RouteSocket(listening: false)
    }

    /// Starts to watch; the loop keeps the object until ``stop()``.
    ///
    /// - Parameter changed: called on the loop once soon after the start, and after each change.
    func start(_ changed: @escaping @Sendable (NetworkState) -> Void) {
        self.shared.withLock { $0.changed = changed }
        self.loop.execute {
            // Another thread may have called `stop` first.
            guard !self.shared.withLock({ $0.isStopped }) else { return }
            self.loop.watch(self.news.descriptor, for: .read, by: self)
            self.look()
        }
    }

    func stop() {
        self.shared.withLock { ($0.changed, $0.isStopped) = (nil, true) }
        self.loop.execute { self.loop.unwatch(self.news.descriptor) }
    }

    /// The tables after the last change; nil before they are first read.
    var state: NetworkState? { self.shared.withLock { $0.state } }

    /// Returns the current status of an address.
    func status(of address: SocketAddress) -> ReachabilityStatus {
        guard let state = self.state else { return .unknown }
        switch self.questions.route(to: address) {
        case .over(let link): return state.status(over: link)
        case .nowhere: return .notReachable
        case .unknown: return .unknown
        }
    }

    func descriptorReady(_ descriptor: Int32, _ readiness: Readiness) {
        switch self.news.drain() {
        case .nothing: break
        // Only the status of single addresses can change by these; the stored tables stay the same.
        case .routes: if let state = self.state { self.tell(state) }
        case .tables: self.look()
        }
    }

    private func look() {
        guard let state = self.questions.snapshot() else { return }
        self.shared.withLock { $0.state = state }
        self.tell(state)
    }

    private func tell(_ state: NetworkState) { self.shared.withLock { $0.changed }?(state) }
}
