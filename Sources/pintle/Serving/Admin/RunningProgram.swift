// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleAdmin
internal import PintleCache
internal import PintleMessage
internal import PintlePolicy
internal import PintleProxy
internal import PintleSession
internal import PintleSystem
internal import PintleTrust
internal import PintleWatch

/// This process, as its admin endpoint sees it.
final class RunningProgram: AdminProgram {
    private let server: ServingProxy
    private let reloader: Reloader?
    private let lifecycle: Lifecycle
    private let origin: ConfigurationOrigin
    private let loaded: Locked<LoadedConfiguration>
    private let watching: Watching
    let started = Timestamp.now()

    /// The configuration in force, and the last attempt to replace it.
    struct LoadedConfiguration: Sendable {
        var moment = Timestamp.now()
        var isLastAttemptGood = true
    }

    /// - Parameters:
    ///   - reloader: nil if the configuration is kept to the end.
    ///   - watching: the exchanges of the proxy.
    init(
        _ server: ServingProxy, _ reloader: Reloader?, _ lifecycle: Lifecycle, _ origin: ConfigurationOrigin,
        _ watching: Watching
    ) {
        self.watching = watching
        (self.server, self.reloader, self.lifecycle, self.origin) = (server, reloader, lifecycle, origin)
        self.loaded = Locked(LoadedConfiguration())
    }

    /// Notes an attempt to replace the configuration.
    func reloaded(isInForce: Bool) {
        self.loaded.withLock { loaded in
            loaded.isLastAttemptGood = isInForce
            if isInForce { loaded.moment = .now() }
        }
        if isInForce { self.watching.metrics.expect(trusts: self.active.policy.namesOfPinningTrusts) }
    }

    func keepAway(from other: Proxy) { self.server.proxy.keepAway(from: other) }

    var configuration: LoadedConfiguration { self.loaded.withLock { $0 } }

    // MARK: Reading

    var active: ActiveConfiguration { self.server.active }
    var revision: String { self.active.revision ?? "" }
    var configurationFile: String? { self.origin.path }
    var status: String { self.server.status }
    var version: String { Version.number }
    var activity: Activity { self.server.activity }

    var ruleCounts: [(rule: PolicyRule, count: Int)] {
        self.watching.recent.countAll()
        return self.active.ruleCounters.counts
    }

    var connections: Int { self.server.proxy.connections }
    var places: [ListenAddress] { self.server.proxy.places }

    var unreadiness: String? {
        switch self.lifecycle.state {
        case .serving: nil
        case .assembling, .starting: "starting"
        case .stopRequested, .draining: "draining"
        case .stopped: "stopped"
        }
    }

    var authority: String? {
        guard self.active.policy.intercepts else { return nil }
        let interception = self.active.policy.configuration.interception
        return (try? DataFolder.authority(for: interception))?.certificatePEM
    }

    func running() async -> [RunningExchange] { await self.server.proxy.running() }

    func metrics() async -> MetricsReading {
        var reading = MetricsReading()
        reading.exchanges = self.watching.snapshot()
        reading.counters = self.activity.counters.snapshot()
        let active = self.active
        let uses = await active.connectionUses()
        reading.upstreamConnections = [
            .connecting: uses.connecting, .active: uses.active, .idle: uses.idle,
        ]
        let searches = self.server.proxy.processSearches
        reading.processSearches = [
            .found: searches.found, .missing: searches.missing, .dropped: searches.dropped,
        ]
        reading.certificates = await active.verdicts().compactMap { Self.expiry(of: $0, in: active.policy) }
        let configuration = self.configuration
        reading.revision = self.active.revision
        reading.reload = MetricsReading.Reload(
            isSuccessful: configuration.isLastAttemptGood, lastSuccess: configuration.moment)
        reading.lists = self.server.lists.all
        reading.version = self.version
        return reading
    }

    /// The first end of a certificate in a chain. Its host is named by the pattern of the configuration.
    private static func expiry(
        of use: ActiveConfiguration.HostVerdict, in policy: Policy
    ) -> MetricsReading.CertificateExpiry? {
        guard let host = Authority(use.host, defaultPort: 443),
            let trust = policy.configuration.trust.first(where: { $0.name == use.policy }),
            let pattern = trust.hosts.first(where: { $0.value.matches(host) }),
            let end = use.verdict.chain.map(\.notAfter.seconds).min()
        else { return nil }
        return MetricsReading.CertificateExpiry(
            trust: trust.name, host: pattern.value.description, secondsLeft: Int(end - UnixTime.now.seconds))
    }

    // MARK: Changing

    func reload(ifRevision revision: String?) async -> AdminReload {
        if let revision, revision != self.revision { return .outdated }
        guard let reloader else { return .refused(lines: ["the proxy of `pintle run` keeps its configuration"]) }
        let answer = await reloader.reload(Reloader.Options())
        let isDone = answer.code == ProcessExit.success.rawValue
        return isDone ? .done(lines: answer.lines) : .refused(lines: answer.lines)
    }

    func purge(_ selection: CacheSelection) async -> Int? {
        guard let store = self.active.answers else { return nil }
        return await withCheckedContinuation { waiting in
            store.purge(selection) { waiting.resume(returning: $0) }
        }
    }

    func compile(_ text: String) throws(ConfigurationError) -> Policy {
        let draft = try PolicyLoader.draft(
            yaml: Array(text.utf8), file: self.origin.path ?? "pintle.yaml",
            surroundings: .system(environment: Inherited.environment))
        // A preview asks no server: it shows the lists as they were fetched last.
        let source = ListSource(store: .ofUser)
        let copies = draft.fetches.reduce(into: [String: ListClient.Text]()) { copies, fetch in
            copies[fetch.name] = source.copy(of: fetch)
        }
        return try draft.policy { name throws(Malformed) in
            guard let text = copies[name] else {
                throw Malformed("a preview fetches no list, and there is no copy of this one; pintle check fetches it")
            }
            return PolicyDraft.Fetched(hosts: text.hosts, confirmed: text.copy.confirmed)
        }
    }
}

extension Policy {
    /// The names of the trust policies with pins.
    var namesOfPinningTrusts: [String] {
        self.configuration.trust.filter { $0.pinning != .none }.map(\.name)
    }
}
