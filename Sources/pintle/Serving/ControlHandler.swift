// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import PintleActivity
internal import PintleAdmin
internal import PintleCache
internal import PintleCacheStore
internal import PintlePolicy
internal import PintleProxy
internal import PintleSystem

/// Carries out the requests of commands to this process, each on the thread of its connection.
struct ControlHandler: Sendable {
    let reloader: Reloader
    let server: ServingProxy
    let feed: ExchangeFeed
    /// Nil without an admin endpoint.
    let admin: AdminServer?

    func serve(_ request: ControlRequest, _ peer: ControlConnection) {
        switch request.command {
        case .reload:
            let options = Reloader.Options(force: request.force, live: request.live)
            _ = peer.send(Self.wait { await self.reloader.reload(options) })
        case .purge: _ = peer.send(Self.wait { await self.purge(request.purge) })
        case .status: _ = peer.send(ControlAnswer(code: ProcessExit.success.rawValue, lines: self.status()))
        case .counters:
            _ = peer.send(ControlAnswer(code: ProcessExit.success.rawValue, counters: self.reading()))
        case .wait:
            guard let wait = request.wait else { return Self.refuse(peer, "it is not said how long to wait") }
            if let answer = IdleWait(activity: self.server.activity, wait: wait).answer(to: peer) {
                _ = peer.send(answer)
            }
        case .tail:
            guard let tail = request.tail else { return Self.refuse(peer, "it is not said what to follow") }
            ExchangeTail(feed: self.feed, log: self.server.active.logConfiguration).follow(tail, to: peer)
        case .explain:
            guard let exchange = request.exchange else { return Self.refuse(peer, "it is not said which exchange") }
            _ = peer.send(self.explain(exchange))
        }
    }

    private static func refuse(_ peer: ControlConnection, _ reason: String) {
        _ = peer.send(ControlAnswer(code: ProcessExit.usage.rawValue, lines: [reason]))
    }

    /// Blocks the calling thread, which has no other work.
    private static func wait(for work: @escaping @Sendable () async -> ControlAnswer) -> ControlAnswer {
        let done = DispatchSemaphore(value: 0)
        let place = Locked<ControlAnswer?>(nil)
        Task {
            let answer = await work()
            place.withLock { $0 = answer }
            done.signal()
        }
        done.wait()
        guard let answer = place.withLock({ $0 }) else { preconditionFailure("BUG: signalled without an answer") }
        return answer
    }

    private func purge(_ purge: ControlRequest.Purge?) async -> ControlAnswer {
        let selection: CacheSelection
        switch purge {
        case .url(let url): selection = .url(url)
        case .prefix(let prefix): selection = .prefix(prefix)
        case .tag(let tag): selection = .tag(tag)
        case .all: selection = .all
        case nil: return ControlAnswer(code: ProcessExit.usage.rawValue, lines: ["nothing was named that could go"])
        }
        guard let store = self.server.active.answers else {
            return ControlAnswer(
                code: ProcessExit.incomplete.rawValue,
                lines: ["no route of this proxy keeps answers; set routes[].cache"])
        }
        let count = await withCheckedContinuation { waiting in
            store.purge(selection) { waiting.resume(returning: $0) }
        }
        // A script that purges changed content thus learns that a URL or a tag is misspelled.
        guard count > 0 else {
            return ControlAnswer(code: ProcessExit.found.rawValue, lines: ["nothing is kept that this names"])
        }
        return ControlAnswer(
            code: ProcessExit.success.rawValue, lines: [count == 1 ? "1 answer is gone" : "\(count) answers are gone"])
    }

    private func explain(_ id: String) -> ControlAnswer {
        guard let admin else {
            return ControlAnswer(
                code: ProcessExit.incomplete.rawValue,
                lines: [
                    "this proxy keeps no exchanges, as it has no admin endpoint; set admin, or start it with --admin"
                ])
        }
        guard let explanation = admin.explanation(of: id) else {
            return ControlAnswer(
                code: ProcessExit.incomplete.rawValue,
                lines: ["\(id) is not among the exchanges that are kept; their lines in the log have the id"])
        }
        return ControlAnswer(
            code: ProcessExit.success.rawValue, lines: explanation.lines,
            exchange: ControlAnswer.Exchange(
                json: String(decoding: explanation.json, as: UTF8.self), hasPassed: explanation.hasPassed))
    }

    private func reading() -> CounterReading {
        let snapshot = self.server.activity.counters.snapshot()
        return CounterReading(
            status: self.server.status, activity: self.server.activity.state.rawValue,
            connections: self.server.proxy.connections, tunnels: snapshot.overall.tunnelsActive,
            heldBytes: snapshot.memory.held, questions: snapshot.questions.waiting,
            overall: CounterReading.Row("all", snapshot.overall),
            routes: snapshot.routes.filter { $0.counts.started > 0 }.map { CounterReading.Row($0.name, $0.counts) })
    }

    private func status() -> [String] {
        let snapshot = self.server.activity.counters.snapshot()
        var lines = ["\(self.server.status): \(Self.words(for: snapshot.overall))"]
        if let admin { lines.append("admin: \(admin.link)") }
        if let store = self.server.active.answers {
            let (counts, usage) = (store.counts, store.usage)
            var line =
                "cache: \(counts.hits) hits, \(counts.misses) misses, \(counts.merged) merged, \(counts.purged) purged"
            line += "; \(usage.answers) answers of \(usage.bytes) bytes in memory"
            if let disk = store.diskUsage { line += ", \(disk.entries) of \(disk.bytes) bytes on disk" }
            lines.append(line)
        }
        if snapshot.questions != QuestionCounts() {
            lines.append("questions: \(Self.words(for: snapshot.questions))")
        }
        for route in snapshot.routes where route.counts.started > 0 {
            lines.append("route \(route.name): \(Self.words(for: route.counts))")
        }
        return lines
    }

    private static func words(for counts: Counts) -> String {
        counts.named.filter { $0.value != 0 || $0.name == "started" }.map { "\($0.value) \($0.name)" }
            .joined(separator: ", ")
    }

    private static func words(for questions: QuestionCounts) -> String {
        let ends = QuestionEnd.allCases.map { (name: $0.rawValue, value: questions[end: $0]) }
        return ([(name: "waiting", value: questions.waiting)] + ends).filter { $0.value != 0 }
            .map { "\($0.value) \($0.name)" }.joined(separator: ", ")
    }
}
