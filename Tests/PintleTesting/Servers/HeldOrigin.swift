// SPDX-License-Identifier: Apache-2.0

/// An origin that answers a path, with that path, when the test says so, and knows its number of concurrent requests.
package final class HeldOrigin: Sendable {
    package struct Load: Sendable {
        package var released: Set<String> = []
        package var releasesAll = false
        package var now = 0
        package var most = 0
    }

    package let load = Watched(Load())
    package let origin: RawOrigin

    package init(answering answer: @escaping @Sendable (Message) -> String = HeldOrigin.echo) throws {
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

    package func release(_ path: String) { self.load.change { _ = $0.released.insert(path) } }

    package func releaseAll() { self.load.change { $0.releasesAll = true } }

    /// Answers a request with its path.
    package static func echo(_ request: Message) -> String {
        "HTTP/1.1 200 OK\r\nContent-Length: \(request.target.utf8.count)\r\n\r\n\(request.target)"
    }

    package var paths: [String] { self.origin.requests.map(\.target) }
}
