// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleTesting

/// An origin that answers a path, with that path, when the test says so, and knows its number of concurrent requests.
final class HeldOrigin: Sendable {
    struct Load: Sendable {
        var released: Set<String> = []
        var releasesAll = false
        var now = 0
        var most = 0
    }

    let load = Watched(Load())
    let origin: RawOrigin

    init(answering answer: @escaping @Sendable (Message) -> String = { response($0.target) }) throws {
        let load = self.load
        self.origin = try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                load.change { load in
                    load.now += 1
                    load.most = max(load.most, load.now)
                }
                let isReleased = Result {
                    try load.wait(for: request.target) { $0.releasesAll || $0.released.contains(request.target) }
                }
                // Counted before the answer, after which the client may send its next request.
                load.change { $0.now -= 1 }
                _ = try isReleased.get()
                try connection.send(answer(request))
            }
        }
    }

    deinit { self.releaseAll() }

    func release(_ path: String) { self.load.change { _ = $0.released.insert(path) } }

    func releaseAll() { self.load.change { $0.releasesAll = true } }

    var paths: [String] { self.origin.requests.map(\.target) }
}
