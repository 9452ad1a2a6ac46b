// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

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

extension CacheSelection {
    /// The responses of a URL as a person writes it: in the form of ``CacheKey/url``, without a fragment.
    ///
    /// - Returns: nil for text that is no http or https URL.
    package init?(url: String) {
        guard let parsed = try? HTTPURL(url) else { return nil }
        self = .url(CacheKey(partition: "", url: parsed).url)
    }

    /// The responses whose URLs begin as a person writes it: scheme, host and port take the form of ``CacheKey/url``. The rest is
    /// compared byte by byte.
    package init(prefix: String) {
        let parts = prefix.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4 else {
            // It ends within the host, or before.
            self = .prefix(prefix.lowercased())
            return
        }
        guard parts[1].isEmpty, let origin = try? HTTPURL("\(parts[0])//\(parts[2])/") else {
            // No URL begins in this way.
            self = .prefix(prefix)
            return
        }
        self = .prefix("\(CacheKey(partition: "", url: origin).url)\(parts[3])")
    }
}
