// SPDX-License-Identifier: Apache-2.0

import PintleHTTPCache
import PintleMessage
import PintleTesting
import Testing

/// Random courses of responses and removals, against a plain model: of the responses for a URL, the one counts whose request was
/// sent last, whether it is kept or not.
@Suite struct HTTPCacheModelTests {
    private struct Model {
        private struct News {
            let time: ContinuousClock.Instant
            /// Nil if the response is not kept, or was removed.
            var text: String?
        }

        private var latest: [String: News] = [:]
        private var removals: [String: ContinuousClock.Instant] = [:]
        private var removing: [ClosedRange<ContinuousClock.Instant>] = []

        func text(at path: String) -> String? { self.latest[path]?.text }

        /// - Parameter text: nil for a response that is not kept.
        mutating func store(_ path: String, _ text: String?, askedFor time: ContinuousClock.Instant) {
            // Its request was sent before a removal, or before that of a response that has come already.
            if let removal = self.removals[path], time <= removal { return }
            if let latest = self.latest[path], time < latest.time { return }
            self.latest[path] = News(time: time, text: text)
        }

        /// - Parameter start: a time before the removal.
        mutating func remove(_ path: String, since start: ContinuousClock.Instant) {
            let end = ContinuousClock.now
            self.removals[path] = end
            self.removing.append(start...end)
            self.latest[path]?.text = nil
        }

        /// The time, or one before the removals that were under way then: a request of that time may have come before or after them.
        func clear(_ time: ContinuousClock.Instant) -> ContinuousClock.Instant {
            self.removing.last { $0.contains(time) }.map { self.clear($0.lowerBound - .nanoseconds(1)) } ?? time
        }
    }

    private static let paths = ["/a", "/b"]

    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func `the response to the last request answers, whatever comes late or is removed`(seed: UInt64) async throws {
        var dice = SeededGenerator(seed: seed)
        let stage = CacheStage()
        var model = Model()
        for number in 0..<60 {
            let path = Self.paths.randomElement(using: &dice) ?? "/a"
            let isLate = Bool.random(using: &dice)
            let delay = Int64.random(in: 1...5000, using: &dice)
            let now = ContinuousClock.now
            let time = model.clear(now - .microseconds(isLate ? delay : 0))
            switch Int.random(in: 0..<12, using: &dice) {
            case 0..<5:
                try await stage.store(path, ["Cache-Control": "max-age=60"], "\(number)", requestTime: time)
                model.store(path, "\(number)", askedFor: time)
            case 5..<8:
                let status: UInt16 = [200, 301, 404].randomElement(using: &dice) ?? 200
                try await stage.store(path, ["Cache-Control": "no-store"], "", status: status, requestTime: time)
                model.store(path, nil, askedFor: time)
            // A failure of the server changes nothing.
            case 8: try await stage.store(path, ["Cache-Control": "no-store"], "", status: 503, requestTime: time)
            case 9:
                stage.cache.remove(try stage.url(path))
                model.remove(path, since: now)
            case 10:
                try await stage.invalidate("POST", path, 200)
                model.remove(path, since: now)
            default:
                stage.cache.removeAll()
                for path in Self.paths { model.remove(path, since: now) }
            }
            for path in Self.paths {
                let answer = await stage.ask(path)
                #expect(answer?.text == model.text(at: path), "step \(number), \(path)")
            }
        }
    }
}
