// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy
internal import PintleSession

/// Cookies of routes that are hidden from clients: kept in a jar for each route that has one, otherwise dropped.
struct CookieJars: Sendable {
    /// By route name, so that the jars survive a reload, as counters do.
    private let jars: [String: CookieJar]

    /// Makes the jars of a configuration.
    ///
    /// - Parameter previous: the jars of the previous configuration; a route that had a jar keeps it.
    init(_ routes: RouteTable, continuing previous: CookieJars?) {
        var jars: [String: CookieJar] = [:]
        for route in routes.routes where route.configuration.request.cookies == .jar {
            jars[route.name] = previous?.jars[route.name] ?? CookieJar()
        }
        self.jars = jars
    }

    /// Adds the cookies of the route's jar to a request, which has no cookies of the client any more. Does nothing if
    /// there are none.
    ///
    /// - Parameter capture: keeps the bodies, in which an origin may repeat the cookies.
    func fill(_ request: inout TransferRequest, of decision: Decision, _ capture: ExchangeCapture?) {
        guard let jar = self.jar(of: decision), let cookies = jar.header(for: decision.url) else { return }
        request.fields.append("Cookie", cookies)
        capture?.note(cookies: cookies)
    }

    /// True if no jar adds cookies to the requests of the decision.
    func addsNothing(to decision: Decision) -> Bool { decision.cookies != .jar }

    /// The head of a response, without Set-Cookie if that is not for the client. A jar stores the cookies.
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

    /// The URL of the request. It lacks parameters that a serializer adds to the query; no cookie depends on them.
    fileprivate var url: HTTPURL { HTTPURL(scheme: self.scheme, authority: self.authority, path: self.path) }
}
