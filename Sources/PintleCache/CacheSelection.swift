// SPDX-License-Identifier: Apache-2.0

/// The stored responses that a removal covers.
package enum CacheSelection: Sendable, Hashable {
    case url(String)
    case prefix(String)
    /// A surrogate key.
    case tag(String)
    case all

    /// - Parameter tags: the surrogate keys of the response.
    package func covers(_ url: String, tags: [String]) -> Bool {
        switch self {
        case .url(let wanted): url == wanted
        case .prefix(let prefix): url.hasPrefix(prefix)
        case .tag(let tag): tags.contains(tag)
        case .all: true
        }
    }
}
