// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
internal import PintleCache

/// Notices the removals that cover a response, from its request on; the response may then be out of date.
final class RemovalWatch: AnswerUnderWay {
    private struct State {
        /// The surrogate keys of the response; nil before its head has arrived, when any tag may match.
        var tags: [String]?
        var isRevoked = false
    }

    let key: CacheKey
    let number: UInt64
    private let state = NIOLockedValueBox(State())

    init(_ key: CacheKey, number: UInt64 = 0) { (self.key, self.number) = (key, number) }

    func outdate() { self.state.withLockedValue { $0.isRevoked = true } }

    func note(tags: [String]) { self.state.withLockedValue { $0.tags = tags } }

    func meet(_ selection: AnswerStore.Selection) {
        self.state.withLockedValue { state in
            if case .tag = selection, state.tags == nil { state.isRevoked = true }
            if selection.covers(self.key.url, tags: state.tags ?? []) { state.isRevoked = true }
        }
    }

    var isRevoked: Bool { self.state.withLockedValue { $0.isRevoked } }
}
