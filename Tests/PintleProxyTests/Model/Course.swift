// SPDX-License-Identifier: Apache-2.0

/// A course of events for some exchanges of one worker, drawn at random: everything that is needed to play it again.
///
/// Clients, paths and origins are numbers; an origin's number counts those that are under way at the time, so a course from
/// which events are taken out is still one.
struct Course: Codable, Sendable {
    /// An index of ``ModelConfiguration/all``.
    var configuration: Int
    var steps: [Step]
    /// True if all clients leave after the last step; else everything is brought to its end.
    var endsByLeaving = false
    /// True for the mistake by which a test shows that mistakes are found and shrunk.
    var isWrong = false

    /// A request of a client.
    struct Request: Codable, Sendable {
        enum Kind: String, Codable, CaseIterable {
            case get, head, part, noCache, conditional, post, postChunked, postExpecting, delete, upgrade, connect
        }

        /// The password for the proxy.
        enum Password: String, Codable {
            case none, right, wrong
        }

        var kind: Kind
        /// 0 to 2: two paths of a.test, and one of b.test.
        var path = 0
        /// The index of an Authorization; 0 for none.
        var user = 0
        /// The value of X-Variant, which some answers vary by.
        var variant = 0
        /// Bytes of the request's body.
        var size = 0
        var password = Password.none

        var hasBody: Bool { [.post, .postChunked, .postExpecting].contains(self.kind) }
        var method: String {
            switch self.kind {
            case .get, .part, .noCache, .conditional, .upgrade: "GET"
            case .head: "HEAD"
            case .post, .postChunked, .postExpecting: "POST"
            case .delete: "DELETE"
            case .connect: "CONNECT"
            }
        }
    }

    /// An answer of an origin.
    struct Answer: Codable, Sendable {
        enum Kind: String, Codable, CaseIterable {
            case ok, part, notModified, otherNotModified, noContent, missing, failure, found, other, again, permanent
        }

        /// The time for which the answer may be used, and the users who may get it.
        enum Use: String, Codable, CaseIterable {
            case fresh, freshForMany, mustRevalidate, noCache, staleWhileRevalidate, staleIfError, isPrivate, noStore
            case silent, varying, cookie
        }

        var kind: Kind
        var use: Use
        /// Names the content: see ``ModelContent``.
        var version = 0
        var isChunked = false
        /// 0 to 2: the path that a redirect leads to.
        var path = 0
    }

    enum Step: Codable, Sendable {
        case asks(client: Int, Request)
        case sends(client: Int, Int)
        case endsBody(client: Int)
        case stopsReading(client: Int)
        case readsOn(client: Int)
        case leaves(client: Int)
        case breaks(client: Int)
        case interim(origin: Int)
        case answers(origin: Int, Answer)
        case gives(origin: Int, Int)
        case trailers(origin: Int)
        case ends(origin: Int)
        case endsWhenGiven(origin: Int)
        case fails(origin: Int)
        case slows(origin: Int)
        case takes(origin: Int)
        case switches(origin: Int, asOffered: Bool)
        case memoryRunsShort
        case memoryIsFree
        case reload
        case restart
        case turn
        case hour
    }

    init(configuration: Int, steps: [Step], endsByLeaving: Bool = false, isWrong: Bool = false) {
        (self.configuration, self.steps) = (configuration, steps)
        (self.endsByLeaving, self.isWrong) = (endsByLeaving, isWrong)
    }
}

extension Course: CustomStringConvertible {
    /// The course in words, an event on each line.
    var description: String {
        let end = self.endsByLeaving ? "all clients leave" : "everything goes on to its end"
        return (["under \(ModelConfiguration.all[self.configuration].yaml)"] + self.steps.map(\.description) + [end])
            .joined(separator: "\n")
    }
}

extension Course.Step: CustomStringConvertible {
    var description: String {
        switch self {
        case .asks(let client, let request):
            var words = "client \(client) asks: \(request.kind.rawValue) of path \(request.path)"
            if request.hasBody { words += " with \(request.size) bytes" }
            if request.user > 0 { words += ", as user \(request.user)" }
            if request.password != .none { words += ", with the \(request.password.rawValue) password" }
            return request.variant > 0 ? words + ", for variant \(request.variant)" : words
        case .sends(let client, let count): return "client \(client) sends up to \(count) bytes"
        case .endsBody(let client): return "client \(client) sends the rest, and ends its body"
        case .stopsReading(let client): return "client \(client) stops reading"
        case .readsOn(let client): return "client \(client) reads on"
        case .leaves(let client): return "client \(client) leaves"
        case .breaks(let client): return "client \(client) sends what is no HTTP"
        case .interim(let origin): return "origin \(origin) sends 103"
        case .answers(let origin, let answer):
            let framing = answer.isChunked ? "in chunks" : "with a length"
            return "origin \(origin) answers: \(answer.kind.rawValue), \(answer.use.rawValue), content "
                + "\(answer.version) \(framing), leading to path \(answer.path)"
        case .gives(let origin, let count): return "origin \(origin) sends up to \(count) bytes"
        case .trailers(let origin): return "origin \(origin) sends the rest and trailers"
        case .ends(let origin): return "origin \(origin) sends the rest, and ends"
        case .endsWhenGiven(let origin):
            return "origin \(origin) ends from within the next call that gives it something"
        case .fails(let origin): return "origin \(origin) breaks off"
        case .slows(let origin): return "origin \(origin) takes no more of its body by itself"
        case .takes(let origin): return "origin \(origin) takes what waits"
        case .switches(let origin, let asOffered):
            return "origin \(origin) hands its connection over\(asOffered ? "" : ", to speak what was not offered")"
        case .memoryRunsShort: return "others hold all memory"
        case .memoryIsFree: return "others give it back"
        case .reload: return "another configuration comes"
        case .restart: return "the proxy is stopped, and started again"
        case .turn: return "a turn ends"
        case .hour: return "two hours pass"
        }
    }
}
