// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy
internal import PintleSystem

/// Remembers the requests that have relied on trust policies: one for each host, policy and route, so that another
/// configuration can be tested with the same request.
final class TrustUses: Sendable {
    /// A request that relied on a verdict.
    struct Use: Sendable {
        let query: RouteQuery
        let isTunnel: Bool
        /// The host that was verified.
        let authority: Authority
        let choice: TrustChoice
    }

    private struct Key: Hashable {
        let authority: Authority
        let trust: Int?
        let route: Int?
        let isTunnel: Bool
    }

    /// The most uses that are remembered. Beyond it all are forgotten, and recurring ones are noted again.
    private static let remembered = 4096
    /// The most bytes of path, matched fields and names of the client; longer requests are not remembered.
    private static let longestQuery = 1024

    private let uses = Locked<[Key: Use]>([:])

    var all: [Use] { self.uses.withLock { Array($0.values) } }

    /// Notes a request, unless it relies on no verification, or a similar one is noted.
    func note(_ query: RouteQuery, _ decision: Decision, isTunnel: Bool = false) {
        guard let choice = decision.trust,
            query.path.utf8.count + query.headers.byteCount + query.client.byteCount <= Self.longestQuery
        else { return }
        let key = Key(
            authority: decision.authority, trust: choice.index, route: decision.route?.index, isTunnel: isTunnel)
        self.uses.withLock { uses in
            guard uses[key] == nil else { return }
            if uses.count >= Self.remembered { uses.removeAll() }
            uses[key] = Use(query: query, isTunnel: isTunnel, authority: decision.authority, choice: choice)
        }
    }
}
