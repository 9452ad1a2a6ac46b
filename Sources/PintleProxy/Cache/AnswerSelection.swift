// SPDX-License-Identifier: Apache-2.0

extension AnswerStore {
    /// The responses that a removal covers.
    package enum Selection: Sendable, Equatable {
        case url(String)
        case prefix(String)
        /// A surrogate key.
        case tag(String)
        case all

        func covers(_ url: String, tags: [String]) -> Bool {
            switch self {
            case .url(let wanted): url == wanted
            case .prefix(let prefix): url.hasPrefix(prefix)
            case .tag(let tag): tags.contains(tag)
            case .all: true
            }
        }
    }
}
