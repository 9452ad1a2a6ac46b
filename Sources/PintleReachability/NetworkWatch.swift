// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
internal import NIOCore
internal import PintleLoop
internal import PintleSession

/// Follows the machine's links, addresses and routes on a loop, and answers questions about them on any thread.
///
/// What the kernel tells is only taken as a sign that something changed; then the tables are read anew. What it tells does
/// not add up to the truth: routes that go with their link go without a word, and what does not fit a buffer is lost.
final class NetworkWatch: DescriptorWatcher, Sendable {
    private let loop: Loop
    private let news: RouteSocket
    private let questions: RouteSocket
    private let shared = NIOLockedValueBox(Shared())

    private struct Shared {
        var state: NetworkState?
        var changed: (@Sendable (NetworkState) -> Void)?
        var isStopped = false
    }

    /// Opens the sockets, in the calling thread's network namespace.
    init(loop: Loop) throws(SessionError) {
        self.loop = loop
        // Listened first: what changes after the first look is told.
        self.news = try RouteSocket(listening: true)
        self.questions = try RouteSocket(listening: false)
    }

    /// Begins to watch; the loop holds the object until ``stop()``.
    ///
    /// - Parameter changed: called on the loop once soon afterwards, and after each change.
    func start(_ changed: @escaping @Sendable (NetworkState) -> Void) {
        self.shared.withLockedValue { $0.changed = changed }
        self.loop.execute {
            // Another thread may have been quicker to stop.
            guard !self.shared.withLockedValue({ $0.isStopped }) else { return }
            self.loop.watch(self.news.descriptor, for: .read, by: self)
            self.look()
        }
    }

    func stop() {
        self.shared.withLockedValue { ($0.changed, $0.isStopped) = (nil, true) }
        self.loop.execute { self.loop.unwatch(self.news.descriptor) }
    }

    /// The tables at the last change; nil before the first look at them.
    var state: NetworkState? { self.shared.withLockedValue { $0.state } }

    /// What can be said of an address, now.
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
        // For who asks about one address; the tables that are kept are the same.
        case .routes: if let state = self.state { self.tell(state) }
        case .tables: self.look()
        }
    }

    private func look() {
        guard let state = self.questions.snapshot() else { return }
        self.shared.withLockedValue { $0.state = state }
        self.tell(state)
    }

    private func tell(_ state: NetworkState) { self.shared.withLockedValue { $0.changed }?(state) }
}
