// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The redirects that a task follows; a redirect that it does not follow is its response.
public enum RedirectRule: String, Sendable, Hashable, CaseIterable {
    /// All. Fields that are meant for one origin, such as Authorization and Cookie, never go to another.
    case all
    /// Redirects that do not lead from https to http.
    case secure
    /// Redirects to the same scheme, host and port.
    case sameOrigin = "same_origin"
    /// No redirects.
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
