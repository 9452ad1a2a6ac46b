// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy
internal import PintleSession

/// Keeps the cookies of routes from their clients: in a jar for each route that has one, or nowhere.
struct CookieJars: Sendable {
    /// By the names of their routes, so that they outlive a reload as counters do.
    private let jars: [String: CookieJar]

    /// Makes the jars of a configuration.
    ///
    /// - Parameter previous: those of the configuration before; a route that had a jar keeps it.
    init(_ routes: RouteTable, continuing previous: CookieJars?) {
        var jars: [String: CookieJar] = [:]
        for route in routes.routes where route.configuration.request.cookies == .jar {
            jars[route.name] = previous?.jars[route.name] ?? CookieJar()
        }
        self.jars = jars
    }

    /// Gives a request the cookies that the jar of its route has for it; those of the client are gone already.
    func fill(_ request: inout TransferRequest, of decision: Decision) {
        guard let jar = self.jar(of: decision), let cookies = jar.header(for: decision.url) else { return }
        request.fields.append("Cookie", cookies)
    }

    /// True where requests go as their clients have made them: no jar adds to them.
    func addsNothing(to decision: Decision) -> Bool { decision.cookies != .jar }

    /// The head of a response without the cookies that it sets, where they are not for the client. A jar takes them.
    func taking(from head: ResponseHead, to decision: Decision?) -> ResponseHead {
        guard let decision, decision.cookies != .pass, head.fields.contains(.setCookie) else { return head }
        self.jar(of: decision)?.take(head.fields, from: decision.url)
        var head = head
        head.fields.remove(.setCookie)
        return head
    }

    private func jar(of decision: Decision) -> CookieJar? {
        guard decision.cookies == .jar, let route = decision.route else { return nil }
        return self.jars[route.name]
    }
}

extension Decision {
    fileprivate var cookies: RequestRules.Cookies { self.route?.configuration.request.cookies ?? .pass }

    /// Where the request goes. Parameters that a serializer adds to the query are not in it, and no cookie asks for them.
    fileprivate var url: HTTPURL { HTTPURL(scheme: self.scheme, authority: self.authority, path: self.path) }
}
