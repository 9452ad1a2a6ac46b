// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity

/// The counters of a proxy at one moment, as `pintle top` reads them.
struct CounterReading: Codable, Sendable {
    /// The counters of one route, or of all.
    struct Row: Codable, Sendable {
        var name: String
        var started, active, completed, failed, cancelled, violations, bytesUp, bytesDown, cacheHits: Int

        init(_ name: String, _ counts: Counts) {
            self.name = name
            (self.started, self.active, self.completed) = (counts.started, counts.active, counts.completed)
            (self.failed, self.cancelled) = (counts.failed, counts.cancelled)
            self.violations = counts.violations.total
            (self.bytesUp, self.bytesDown) = (counts.bytesUp, counts.bytesDown)
            self.cacheHits = counts.cacheHits
        }
    }

    /// The addresses of the proxy in words.
    var status: String
    /// The name of the activity machine's state.
    var activity: String
    var connections: Int
    var tunnels: Int
    /// The bytes of bodies that are held in memory.
    var heldBytes: Int
    /// The questions about destinations that wait for an answer.
    var questions: Int
    var overall: Row
    /// The routes that were used, in the order of the configuration.
    var routes: [Row]
}
