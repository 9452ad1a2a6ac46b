// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

@testable import PintleSession

/// The decisions of a pool of connections under random events, against plain rules (``PoolModel``).
struct PoolModelTests {
    /// Plays a number of random events.
    private static func play(_ seed: UInt64, steps: Int) -> (PoolModel, step: Int) {
        var model = PoolModel(seed: seed)
        var random = SeededGenerator(seed: seed &+ 1)
        for step in 0..<steps {
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<35: model.start()
            case 35..<60: model.dialled(isSuccess: Int.random(in: 0..<10, using: &random) > 0)
            case 60..<82: model.answered()
            case 82..<86: model.cancelled()
            case 86..<89: model.broken()
            case 89..<92: model.changed()
            case 92..<97: model.passTime()
            case 97..<99: model.lackDescriptors()
            default: if Int.random(in: 0..<5, using: &random) == 0 { model.end(isFinal: false) }
            }
            model.check()
            if !model.breaches.isEmpty { return (model, step) }
        }
        return (model, steps)
    }

    @Test func `LOOK-13 every request gets its connection by plain rules, whatever the order of events`() {
        var seen: Set<String> = []
        for seed in (0..<8).map({ Seed.ofThisRun &+ $0 * 2 }) {
            var (model, step) = Self.play(seed, steps: 2_500)
            #expect(model.breaches.isEmpty, "seed \(seed), step \(step): \(model.breaches)")
            guard model.breaches.isEmpty else { return }
            // Without new requests those that wait get their turn.
            for _ in 0..<20_000 where !model.requests.isEmpty {
                model.dialled(isSuccess: true)
                model.answered()
            }
            #expect(model.requests.isEmpty, "seed \(seed): \(model.requests) were forgotten")
            model.end(isFinal: true)
            // Requests that come too late leave nothing behind.
            for _ in 0..<10 {
                model.start()
                model.dialled(isSuccess: true)
                model.answered()
            }
            #expect(model.breaches.isEmpty, "seed \(seed), after the end: \(model.breaches)")
            #expect(model.requests.isEmpty && model.connections.isEmpty, "seed \(seed): something is kept")
            seen.formUnion(model.seen)
        }
        let events: Set = [
            "counted", "uncounted", "queued", "admitted", "a stream", "kept", "kept of an owner", "surplus", "leaves",
            "expired",
        ]
        #expect(seen.isSuperset(of: events), "\(events.subtracting(seen)) do not happen")
    }
}
