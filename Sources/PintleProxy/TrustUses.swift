// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
internal import PintleMessage
internal import PintlePolicy

/// Remembers which requests have relied on which trust policy: of each host, policy and route one request, so that another
/// configuration can be asked what it would do with the same one.
final class TrustUses: Sendable {
    /// A request that relied on a verdict.
    struct Use: Sendable {
        let query: RouteQuery
        let isTunnel: Bool
        /// Who had to prove itself.
        let authority: Authority
        let choice: TrustChoice
    }

    private struct Key: Hashable {
        let authority: Authority
        let trust: Int?
        let route: Int?
        let isTunnel: Bool
    }

    /// The most uses that are remembered; above it all are forgotten, and those that come again are noted again.
    private static let remembered = 4096
    /// Requests with longer paths, in bytes and with the fields that routes look at, are not remembered.
    private static let longestQuery = 1024

    private let uses = NIOLockedValueBox<[Key: Use]>([:])

    var all: [Use] { self.uses.withLockedValue { Array($0.values) } }

    /// Notes a request, unless it relies on nothing that could be proved, or one like it is there.
    func note(_ query: RouteQuery, _ decision: Decision, isTunnel: Bool = false) {
        guard let choice = decision.trust, query.path.utf8.count + query.headers.byteCount <= Self.longestQuery else {
            return
        }
        let key = Key(
            authority: decision.authority, trust: choice.index, route: decision.route?.index, isTunnel: isTunnel)
        self.uses.withLockedValue { uses in
            guard uses[key] == nil else { return }
            if uses.count >= Self.remembered { uses.removeAll() }
            uses[key] = Use(query: query, isTunnel: isTunnel, authority: decision.authority, choice: choice)
        }
    }
}
