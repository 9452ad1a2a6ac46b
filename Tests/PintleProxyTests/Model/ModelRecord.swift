// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSession

/// The events of a course so far, and the breaches in them. Used on one loop.
final class ModelRecord {
    /// A request of a client, and its outcome.
    final class Ask {
        let token: Int
        let request: Course.Request
        let body: [UInt8]
        /// The moment at which it was made.
        let begun: Int
        /// True once the client has its answer, or has left.
        var isOver = false

        init(_ token: Int, _ request: Course.Request, begun: Int) {
            (self.token, self.request, self.begun) = (token, request, begun)
            self.body = request.hasBody ? ModelContent.form(of: token, count: request.size) : []
        }
    }

    let configuration: ModelConfiguration
    private(set) var asks: [Ask] = []
    private(set) var origins: [ModelOrigin] = []
    private(set) var breaches: [String] = []
    /// True if the memory was too small for a body to be kept.
    var hasLackedMemory = false
    /// The tunnels that clients have.
    var openTunnels = 0 {
        didSet {
            guard let most = self.configuration.mostTunnels, self.openTunnels > most else { return }
            self.breach("\(self.openTunnels) tunnels are open, though \(most) may be")
        }
    }
    private var moment = 0

    init(_ configuration: ModelConfiguration) { self.configuration = configuration }

    func breach(_ sentence: String) { self.breaches.append(sentence) }

    /// Lets go of the origins, which hold the record.
    func release() { self.origins = [] }

    /// The moments of a course, in order.
    func now() -> Int {
        self.moment += 1
        return self.moment
    }

    func ask(_ request: Course.Request) -> Ask {
        let ask = Ask(self.asks.count, request, begun: self.now())
        self.asks.append(ask)
        return ask
    }

    func add(_ origin: ModelOrigin) {
        self.origins.append(origin)
        guard let ask = self.ask(of: origin) else { return self.breach("an origin is asked for what no client wants") }
        if self.configuration.hasPasswords, ask.request.password != .right {
            self.breach("request \(origin.token) reaches an origin without a password")
        }
        if origin.request.fields.contains("Proxy-Authorization") {
            self.breach("origin of request \(origin.token) gets the password for the proxy")
        }
        // More than once an origin may see a request only if it has redirected it, or caches ask.
        let own = self.origins.filter { $0.token == origin.token }
        let redirects = own.filter(\.hasRedirected).count
        // A request with content is for no cache; one that a redirect has led to has none.
        let more = self.configuration.shares ? 3 * (redirects + (ask.request.hasBody ? 0 : 1)) : 0
        if own.count > 1 + redirects + more {
            self.breach("request \(origin.token) reaches an origin \(own.count) times, after \(redirects) redirects")
        }
    }

    func ask(of origin: ModelOrigin) -> Ask? {
        self.asks.indices.contains(origin.token) ? self.asks[origin.token] : nil
    }

    // MARK: The clients that may have an answer

    /// Checks that a client may have the answer of an origin.
    func check(_ origin: ModelOrigin, for ask: Ask) {
        if self.configuration.hasPasswords, ask.request.password != .right {
            self.breach("request \(ask.token) is answered without a password")
        }
        guard origin.token != ask.token else { return }
        guard self.configuration.shares else {
            return self.breach("request \(ask.token) gets the answer to request \(origin.token)")
        }
        guard let other = self.ask(of: origin), let answer = origin.answer else { return }
        let names = "request \(ask.token) gets the answer to request \(other.token)"
        guard self.mayAsk(ask, what: origin), ["GET", "HEAD"].contains(origin.request.method) else {
            return self.breach("\(names), which is another")
        }
        let isConfirmed = self.origins.contains { $0.token == ask.token && $0.hasConfirmed }
        let user = origin.namesUser ? other.request.user : 0
        // The request that led here by a redirect has lost its user, too.
        let isDirect = ask.request.path == self.path(of: origin)
        let sameUser = user == (origin.namesUser || isDirect ? ask.request.user : 0)
        if ask.request.kind == .noCache, !isConfirmed {
            self.breach("\(names), though its client takes none that was not confirmed for it")
        }
        switch answer.use {
        // It brings an answer up to date that is kept, without its cookie (RFC 9111 §4.3.5).
        case .cookie where origin.request.method == "HEAD": break
        case .isPrivate, .noStore, .cookie: self.breach("\(names), which is \(answer.use.rawValue)")
        case .fresh, .staleWhileRevalidate, .varying:
            // RFC 9111 §3.5: the answer to one with Authorization is for others only if it says so.
            if user != 0, !sameUser { self.breach("\(names), which is for another user alone") }
            if answer.use == .varying, ask.request.variant != other.request.variant {
                self.breach("\(names), which is another variant")
            }
        case .freshForMany: break
        case .mustRevalidate, .noCache:
            if !isConfirmed { self.breach("\(names), which is \(answer.use.rawValue) and was not confirmed for it") }
        case .staleIfError:
            if !isConfirmed, !self.origins.contains(where: \.hasFailed) {
                self.breach("\(names), which is stale, though no origin has failed")
            }
        case .silent:
            if !isConfirmed, !sameUser { self.breach("\(names), of another user, which says nothing of its use") }
        }
        self.checkAge(of: origin, for: ask, names)
    }

    /// False for an answer that is for one user alone because of the request's Authorization (RFC 9111 §3.5): it leaves what is
    /// kept as it is.
    private func saysSomethingOfOthers(_ origin: ModelOrigin) -> Bool {
        guard origin.namesUser else { return true }
        return origin.answer?.use == .freshForMany || origin.answer?.use == .mustRevalidate
    }

    private func path(of origin: ModelOrigin) -> Int? {
        origin.request.path.split(separator: "/").last.flatMap { Int($0) }
    }

    /// True if a request is for the path that an origin was asked for, or a redirect may have led it there.
    private func mayAsk(_ ask: Ask, what origin: ModelOrigin) -> Bool {
        guard let path = self.path(of: origin) else { return false }
        // A redirect may have made a GET of it.
        if ask.request.hasBody || ask.request.kind == .delete {
            guard self.origins.contains(where: { $0.token == ask.token && $0.hasRedirected }) else { return false }
        }
        return ask.request.path == path || self.origins.contains { $0.hasRedirected && $0.answer?.path == path }
    }

    /// An answer that is kept is not given any more once a newer one to the same question was complete: that has taken its place,
    /// or has shown that nothing is to be kept. Confirmations and removals are left out: after those an older one may count.
    private func checkAge(of origin: ModelOrigin, for ask: Ask, _ names: String) {
        guard self.configuration.keeps, !self.configuration.queues, !self.hasLackedMemory,
            origin.answer?.use != .varying,
            self.asks.allSatisfy({ !$0.request.hasBody && $0.request.kind != .delete })
        else { return }
        let (path, authority) = (origin.request.path, origin.request.authority)
        let ofPath = self.origins.filter { $0.request.path == path && $0.request.authority == authority }
        guard !ofPath.contains(where: \.hasConfirmed) else { return }
        for newer in ofPath where newer.asked > origin.asked && newer.isAskedForWhole && newer.answer?.kind == .ok {
            guard let end = newer.completed, end < ask.begun, self.saysSomethingOfOthers(newer) else { continue }
            self.breach("\(names), though the newer answer to request \(newer.token) was complete before it was made")
        }
    }
}
