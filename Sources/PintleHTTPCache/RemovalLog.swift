// SPDX-License-Identifier: Apache-2.0

/// The requests whose responses are not kept any more, by URL: those up to the last removal, and those up to the last response that
/// counted for a session that was forgotten since. They reveal a response that is older news than what the cache has removed.
///
/// Requests have numbers in the order of their times.
struct RemovalLog: Sendable {
    /// The most URLs that are recorded individually; one more turns the records so far into one of all URLs.
    static let limit = 1024

    /// By the hash of the URL, because URLs may be long. If two URLs have one hash, a response may needlessly not be kept.
    private var numbers: [Int: UInt64] = [:]
    private var numberOfAll: UInt64 = 0

    /// Notes that no response to a request for a URL is kept up to a number.
    mutating func note(_ url: String, through number: UInt64) {
        let hash = url.hashValue
        if self.numbers.count >= Self.limit, self.numbers[hash] == nil {
            self.noteAll(through: self.numbers.values.max() ?? 0)
        }
        self.numbers[hash] = max(self.numbers[hash] ?? 0, number)
    }

    /// Notes that no response to a request for any URL is kept up to a number.
    mutating func noteAll(through number: UInt64) {
        self.numbers = self.numbers.filter { $0.value > number }
        self.numberOfAll = max(self.numberOfAll, number)
    }

    /// True if the response to a request is not kept.
    func covers(_ url: String, _ number: UInt64) -> Bool {
        number <= max(self.numberOfAll, self.numbers[url.hashValue] ?? 0)
    }
}
