// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleCache
internal import PintleCacheStore
internal import PintlePolicy
internal import PintleProxy

/// Carries out the requests of commands to this process.
struct ControlHandler: Sendable {
    let reloader: Reloader
    let server: ServingProxy

    func answer(_ request: ControlRequest) async -> ControlAnswer {
        switch request.command {
        case .reload: await self.reloader.reload(Reloader.Options(force: request.force, live: request.live))
        case .purge: await self.purge(request.purge)
        case .status: ControlAnswer(code: ProcessExit.success.rawValue, lines: self.status())
        }
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

    private func status() -> [String] {
        let snapshot = self.server.activity.counters.snapshot()
        var lines = ["\(self.server.status): \(Self.words(for: snapshot.overall))"]
        if let store = self.server.active.answers {
            let (counts, usage) = (store.counts, store.usage)
            var line =
                "cache: \(counts.hits) hits, \(counts.misses) misses, \(counts.merged) merged, \(counts.purged) purged"
            line += "; \(usage.answers) answers of \(usage.bytes) bytes in memory"
            if let disk = store.diskUsage { line += ", \(disk.entries) of \(disk.bytes) bytes on disk" }
            lines.append(line)
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
}
