// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
package import PintleMessage
package import PintleSession

/// Follows redirects in a client's place: keeps the last request and the number of redirects, and proposes the next request.
///
/// A pure value. Each request that it proposes is planned as if the client had made it: by the routes, destinations and trust
/// policies for its own URL. The route of the client's request decides which redirects are followed, to the end.
package struct RedirectTrail: Sendable {
    /// A request that a redirect leads to.
    package struct Hop: Sendable {
        /// The head as the client would have sent it.
        package let head: RequestHead
        /// The plan for it.
        package let plan: RequestPlan
        /// Its body.
        package let body: RequestPlan.Body
        /// The bytes of the redirect's own content that may still be read, so that its connection can be reused.
        package var room = RedirectTrail.longestContent
    }

    /// The most redirects of one request, the same number as in browsers and the library.
    package static let limit = 20
    /// The most bytes of a redirect's content that are read and discarded, so that its connection can be reused.
    package static let longestContent = 64 << 10

    private let rule: RouteConfiguration.Redirects
    /// The head, as the client sent it or would have sent it.
    private var head: RequestHead
    private var plan: RequestPlan
    /// The URL that the request was sent to.
    private var url: HTTPURL?
    /// The body, if all of it is here.
    private var body: (bytes: ByteBuffer, trailers: Fields)?
    private var count = 0

    /// Begins with a client's request.
    ///
    /// - Returns: nil if the route leaves redirects to the client.
    package init?(_ head: RequestHead, _ plan: RequestPlan) {
        guard let rule = plan.decision?.route?.configuration.redirects, rule != .pass else { return nil }
        self.rule = rule
        self.head = head
        self.plan = plan
    }

    /// The number of bytes held for an original body, if the request is sent with another one that is made from it.
    package var heldBytes: Int { self.plan.isSerialized ? self.body?.bytes.readableBytes ?? 0 : 0 }

    /// Keeps the body of the request if all of it is here, so that it can be sent again.
    package mutating func keep(_ body: RequestPlan.Body) {
        if case .whole(let bytes, let trailers) = body { self.body = (bytes, trailers) }
    }

    /// Notes the URL that the request was sent to; a serializer may have changed it.
    package mutating func wasSent(_ transfer: TransferRequest) {
        self.url = HTTPURL(scheme: transfer.scheme, authority: transfer.authority, path: transfer.path)
    }

    /// The request that a response redirects to.
    ///
    /// - Returns: nil if the client gets the response, because it is no redirect or is not followed. Redirects are not
    ///   followed from https to http, without a usable target, or if they need a body that is no longer here.
    /// - Throws: the problem with too many redirects.
    package mutating func next(after response: ResponseHead) throws(Problem) -> Hop? {
        guard let url, let proposal = self.proposal(of: response, at: url) else { return nil }
        guard self.count < Self.limit else {
            throw Problem(
                .loopDetected,
                "\(url.authority) redirects again after \(Self.limit) redirects, which is as many as are followed")
        }
        self.count += 1
        let hop = self.hop(to: proposal)
        (self.head, self.plan, self.url) = (hop.head, hop.plan, nil)
        if !proposal.keepsBody { self.body = nil }
        return hop
    }

    private func proposal(of response: ResponseHead, at url: HTTPURL) -> Redirection? {
        let proposal = try? Redirection.proposed(
            by: response, to: self.head.method, url, fields: self.head.fields, hasBody: self.plan.framing != .none)
        guard let proposal, !proposal.keepsBody || self.body != nil else { return nil }
        guard proposal.url.isSecure || !url.isSecure else { return nil }
        guard self.rule == .follow || proposal.url.isSameOrigin(as: url) else { return nil }
        return proposal
    }

    // MARK: The next request

    private func hop(to proposal: Redirection) -> Hop {
        // The client may know the route's upstream only by other names, and the route may be found only by those.
        if let target = self.ownTarget(for: proposal.url) {
            var fields = proposal.fields
            if let host = self.head.fields[.host] { fields.set("Host", host) }
            let hop = self.planned(proposal, target, fields)
            if let route = hop.plan.decision?.route, route === self.plan.decision?.route { return hop }
        }
        var fields = proposal.fields
        fields.set("Host", proposal.url.authority.description(for: proposal.url.scheme))
        let target = RequestTarget.absolute(
            scheme: proposal.url.scheme, authority: proposal.url.authority, path: proposal.url.path)
        return self.planned(proposal, target, fields)
    }

    private func planned(_ proposal: Redirection, _ target: RequestTarget, _ fields: Fields) -> Hop {
        let head = RequestHead(
            method: proposal.method, target: target, minorVersion: self.head.minorVersion, fields: fields)
        let kept = proposal.keepsBody ? self.body : nil
        let framing: BodyFraming = kept.map { BodyFraming.length(UInt64($0.bytes.readableBytes)) } ?? .none
        let plan = RequestPlan(head, framing, by: self.plan.policy, of: self.plan.client)
        if let kept { return Hop(head: head, plan: plan, body: .whole(kept.bytes, trailers: kept.trailers)) }
        if case .collect = plan.grantedStep {
            return Hop(head: head, plan: plan, body: .whole(ByteBuffer(), trailers: Fields()))
        }
        return Hop(head: head, plan: plan, body: .streamed)
    }

    /// The target with which the client would request a URL below the route's upstream; nil if the URL is not below it.
    private func ownTarget(for url: HTTPURL) -> RequestTarget? {
        guard let route = self.plan.decision?.route?.configuration, let upstream = route.upstream,
            url.scheme == upstream.scheme, url.authority == upstream.authority,
            let rest = upstream.remainder(of: url.path)
        else { return nil }
        let path = (route.stripPrefix ?? "") + rest
        switch self.head.target {
        case .origin: return .origin(path: path)
        case .absolute(let scheme, let authority, _): return .absolute(scheme: scheme, authority: authority, path: path)
        case .authority, .asterisk: return nil
        }
    }
}
