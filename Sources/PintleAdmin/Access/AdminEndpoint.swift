// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The endpoints, by their path (contract §4).
package enum AdminEndpoint: String, CaseIterable, Sendable {
    case health = "/healthz"
    case readiness = "/readyz"
    case metrics = "/metrics"
    case proxyScript = "/proxy.pac"
    case authority = "/ca.pem"
    case page = "/"
    case assets = "/assets/*"
    case session = "/api/session"
    case activity = "/api/activity"
    case exchanges = "/api/exchanges"
    case exchange = "/api/exchanges/*"
    case running = "/api/running"
    case events = "/api/events"
    case routes = "/api/routes"
    case trust = "/api/trust"
    case hosts = "/api/hosts"
    case questions = "/api/questions"
    case question = "/api/questions/*"
    case signedAnswer = "/ask/*"
    case archive = "/api/har"
    case explanation = "/api/explain"
    case reload = "/api/reload"
    case purge = "/api/purge"
    case preview = "/api/preview"
    case devToolsVersion = "/json/version"
    case devToolsTargets = "/json/list"
    case devTools = "/devtools/page/*"

    /// The clients that an endpoint answers.
    package enum Access: Sendable {
        /// All that reach it.
        case open
        /// Those with the token or its cookie.
        case reading
        /// As ``reading``; a browser must also say that a page of this endpoint asks.
        case changing
        /// Those that offer the token for a cookie. A browser must say the same.
        case signingIn
        /// Clients that sign their request.
        case signed
        /// Clients that know the path: its last segment is a secret. A browser must say that its developer tools ask.
        case secretPath
    }

    package var access: Access {
        switch self {
        case .health, .readiness, .metrics, .proxyScript, .authority, .assets: .open
        case .page, .activity, .exchanges, .exchange, .running, .events, .routes, .trust, .hosts, .questions,
            .archive, .explanation, .devToolsVersion, .devToolsTargets:
            .reading
        case .reload, .purge, .preview, .question: .changing
        case .session: .signingIn
        case .signedAnswer: .signed
        case .devTools: .secretPath
        }
    }

    /// The methods in addition to HEAD, which every endpoint with GET has.
    package var methods: [String] {
        switch self.access {
        case .open, .reading, .secretPath: ["GET"]
        case .changing, .signed: ["POST"]
        case .signingIn: ["POST", "DELETE"]
        }
    }

    /// Finds the endpoint of a path without its query.
    ///
    /// - Returns: the endpoint, and the last segment if the endpoint has many paths; nil if there is none.
    package static func find(_ path: Substring) -> (endpoint: AdminEndpoint, name: String)? {
        // The older name, which some clients of the protocol ask for.
        if path == "/json" { return (.devToolsTargets, "") }
        if let exact = Self(rawValue: String(path)), !exact.isFamily { return (exact, "") }
        for family in Self.allCases where family.isFamily {
            let prefix = family.rawValue.dropLast()
            let name = path.dropFirst(prefix.count)
            if path.hasPrefix(prefix), !name.isEmpty, !name.contains("/") { return (family, String(name)) }
        }
        return nil
    }

    /// True if the path ends with the name of one of many things.
    private var isFamily: Bool { self.rawValue.hasSuffix("*") }
}
