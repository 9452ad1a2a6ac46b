// SPDX-License-Identifier: Apache-2.0

/// Reads `ask`.
enum AskReader {
    /// A question that is open for less than a second cannot be answered, and clients do not wait for more than a day.
    static let timeouts: ClosedRange<Duration> = .seconds(1) ... .seconds(86_400)

    /// - Returns: nil after an error.
    static func read(_ node: StrictNode) -> AskConfiguration? {
        guard let map = node.map(.ask) else { return nil }
        var ask = AskConfiguration()
        map.read("timeout", into: &ask.timeout) { $0.duration(Self.timeouts) }
        map.read("waiting", into: &ask.waiting) { $0.int(1...1000) }
        return ask
    }
}
