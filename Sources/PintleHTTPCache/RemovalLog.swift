// SPDX-License-Identifier: Apache-2.0

/// The latest removals. They reveal a response whose request was sent before the removal, and which may therefore be out of
/// date.
struct RemovalLog: Sendable {
    /// The most URLs that are recorded individually; one more turns the removals so far into a removal of all URLs.
    static let limit = 1024

    /// By the hash of the URL, because URLs may be long. If two URLs have one hash, a response may needlessly not be kept.
    private var times: [Int: ContinuousClock.Instant] = [:]
    private var timeOfAll: ContinuousClock.Instant?

    /// Notes a removal of a URL's responses.
    mutating func note(_ url: String, at time: ContinuousClock.Instant) {
        if self.times.count >= Self.limit, self.times[url.hashValue] == nil { self.noteAll(at: time) }
        self.times[url.hashValue] = time
    }

    /// Notes a removal of all responses.
    mutating func noteAll(at time: ContinuousClock.Instant) {
        self.times = [:]
        self.timeOfAll = time
    }

    /// True if the request of a response was sent before a removal that covers it.
    func hasMet(_ url: String, askedFor time: ContinuousClock.Instant) -> Bool {
        [self.timeOfAll, self.times[url.hashValue]].contains { $0.map { time <= $0 } ?? false }
    }
}
