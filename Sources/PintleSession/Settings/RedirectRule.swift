// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// Which redirects a task follows; one that it does not follow is its response.
public enum RedirectRule: String, Sendable, Hashable, CaseIterable {
    /// All. What an origin may know, such as Authorization and Cookie, never goes to another one.
    case all
    /// Those that do not lead from https to http.
    case secure
    /// Those to the same scheme, host and port.
    case sameOrigin = "same_origin"
    /// None.
    case never

    func allows(_ next: HTTPURL, after url: HTTPURL) -> Bool {
        switch self {
        case .all: true
        case .secure: next.isSecure || !url.isSecure
        case .sameOrigin: next.isSameOrigin(as: url)
        case .never: false
        }
    }
}
