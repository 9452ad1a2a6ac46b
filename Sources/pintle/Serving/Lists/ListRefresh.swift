// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import PintleActivity
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession
internal import PintleSystem

/// Keeps the lists of a running proxy up to date: asks their servers again, and reloads the configuration after a change.
///
/// A timer starts each attempt, which asks and reads the answer on the threads of the program and not on the loops. A text that cannot
/// be used is logged, and the last good one stays in force.
final class ListRefresh: Sendable {
    /// The attempts for a list under one configuration.
    private struct Rounds: Sendable {
        let fetch: ListFetch
        let inForce: HostList
        /// The number of the configuration.
        let number: Int
    }

    private struct State: Sendable {
        /// The number of the configuration that is followed. Attempts for an earlier one end.
        var number = 0
        /// The timers and the attempts under way, by the names of the lists.
        var timers: [String: Scheduler.Cancellation] = [:]
        var attempts: [String: Task<Void, Never>] = [:]
        /// The last failure of each URL that was logged.
        var failures: [String: String] = [:]
        /// The last text of each list for which the configuration was reloaded.
        var tried: [String: HostList] = [:]
    }

    private let source: ListSource
    private let times: ListTimes
    private let scheduler: Scheduler
    private let logger: Logger
    private let reload: @Sendable () async -> Void
    private let state = Locked(State())

    /// - Parameters:
    ///   - times: told of the answers of servers.
    ///   - reload: loads the configuration again, with the texts that are kept.
    init(
        _ source: ListSource, _ times: ListTimes, _ scheduler: Scheduler, logger: Logger,
        reload: @escaping @Sendable () async -> Void
    ) {
        (self.source, self.times, self.scheduler) = (source, times, scheduler)
        (self.logger, self.reload) = (logger, reload)
    }

    /// Follows the lists of a configuration in the place of those before.
    func follow(_ policy: Policy) {
        let inForce = policy.configuration.hostLists
        let number = self.end()
        for fetch in policy.listFetches {
            let rounds = Rounds(fetch: fetch, inForce: inForce[fetch.name] ?? HostList(), number: number)
            // The copy is as young as the configuration, or an old one that could not be renewed.
            self.wait(ListPause.first(fetch, self.source.store.read(fetch.url)?.age(at: .now())), rounds)
        }
    }

    func stop() { _ = self.end() }

    /// Ends all attempts.
    ///
    /// - Returns: the number of the next configuration.
    private func end() -> Int {
        let (number, timers, attempts) = self.state.withLock { state in
            defer { (state.timers, state.attempts) = ([:], [:]) }
            state.number += 1
            return (state.number, state.timers, state.attempts)
        }
        for cancel in timers.values { cancel() }
        // The one that has reloaded the configuration is among them, and over.
        for attempt in attempts.values { attempt.cancel() }
        return number
    }

    private func wait(_ pause: Duration, _ rounds: Rounds) {
        self.state.withLock { state in
            // Another configuration is followed meanwhile, or the proxy ends.
            guard state.number == rounds.number else { return }
            state.timers[rounds.fetch.name] = self.scheduler.schedule(pause) { self.attempt(rounds) }
        }
    }

    private func attempt(_ rounds: Rounds) {
        self.state.withLock { state in
            // As above.
            guard state.number == rounds.number else { return }
            state.attempts[rounds.fetch.name] = Task {
                self.wait(await self.refresh(rounds.fetch, inForce: rounds.inForce), rounds)
            }
        }
    }

    /// Asks the server of a list, unless another program of this user has.
    ///
    /// - Returns: the time until the next attempt.
    private func refresh(_ fetch: ListFetch, inForce: HostList) async -> Duration {
        let copy = self.source.copy(of: fetch)
        let text: ListClient.Text
        if let copy, copy.copy.isYoung(at: .now(), every: ListPause.shortest(fetch)) {
            text = copy
        } else {
            switch await self.answer(fetch, knowing: copy) {
            case .success(let loaded): text = loaded.text
            case .failure(let failure):
                // The end of a task is no failure of the server.
                if !Task.isCancelled { self.warn(fetch, failure.reason, copy) }
                return ListPause.afterFailure(fetch)
            }
        }
        self.times.note(fetch.name, confirmed: text.copy.confirmed)
        // A configuration with this text that was refused is not tried again and again.
        let isNew = self.state.withLock { state in
            state.failures[text.copy.url] = nil
            guard text.hosts != inForce, text.hosts != state.tried[fetch.name] else { return false }
            state.tried[fetch.name] = text.hosts
            return true
        }
        if isNew {
            self.logger.notice("the list \"\(fetch.name)\" has changed: it has \(text.hosts.count) entries")
            await self.reload()
        }
        return ListPause.next(fetch, text.copy.age(at: .now()))
    }

    private func answer(
        _ fetch: ListFetch, knowing copy: ListClient.Text?
    ) async -> Result<ListSource.Loaded, ListFailure> {
        let engine: Engine
        do throws(SessionError) { engine = try Engine(threads: 1) } catch {
            return .failure(ListFailure(error.message))
        }
        let answer = await self.source.ask(fetch, knowing: copy, on: engine)
        await engine.stopped()
        if case .success(let loaded) = answer, let warning = loaded.warning { self.logger.warning("\(warning)") }
        return answer
    }

    private func warn(_ fetch: ListFetch, _ reason: String, _ copy: ListClient.Text?) {
        let url = fetch.url.description
        let isNew = self.state.withLock { state in
            defer { state.failures[url] = reason }
            return state.failures[url] != reason
        }
        guard isNew else { return }
        self.logger.log(
            .warning,
            .listUnusable(
                name: fetch.name, url: fetch.shownURL, reason: reason,
                confirmed: copy.map { "\($0.copy.confirmed)" } ?? "never"))
    }
}

/// The times between two requests for a list.
enum ListPause {
    /// The part of the interval by which a request may come early, so that many proxies do not ask at once, and a copy does not
    /// become old in between.
    private static let jitter = 0.1
    /// The longest time until the next attempt after a failure.
    private static let longestAfterFailure = Duration.seconds(60)

    /// The age from which a copy may be asked for again.
    static func shortest(_ fetch: ListFetch) -> Duration { fetch.every * (1 - Self.jitter) }

    /// The time until the first request of a proxy that has just loaded a copy of this age; nil for an unknown age.
    static func first(_ fetch: ListFetch, _ age: Duration?) -> Duration {
        guard let age, age < fetch.every else { return Self.afterFailure(fetch) }
        return Self.next(fetch, age)
    }

    /// The time until the next request if the copy has this age.
    static func next(_ fetch: ListFetch, _ age: Duration?) -> Duration {
        max(fetch.every * Double.random(in: (1 - Self.jitter)...1) - (age ?? .zero), .milliseconds(100))
    }

    /// The time until the next request after one that has failed.
    static func afterFailure(_ fetch: ListFetch) -> Duration {
        min(fetch.every, Self.longestAfterFailure) * Double.random(in: (1 - Self.jitter)...1)
    }
}
