// SPDX-License-Identifier: Apache-2.0

import PintleCache
import PintleMessage

/// The simulated origin of the resource.
struct SessionOrigin {
    typealias Course = SessionCourse

    /// A state of the resource.
    struct Version: Equatable {
        let id: Int
        let status: UInt16
        let use: Course.Use
        let tag: Course.Tag
        let varies: Bool

        /// The length of its bytes; no two versions have the same.
        var length: UInt64 { UInt64(40 + self.id) }

        /// The surrogate key.
        var surrogateKey: String { self.id % 2 == 0 ? "tag1" : "tag2" }

        /// The number of the representation that a request gets.
        func representation(for ask: Course.Ask) -> Int { self.id * 100 + (self.varies ? ask.variant : 0) }

        func entityTag(for ask: Course.Ask) -> String? {
            switch self.tag {
            case .none: nil
            case .weak: "W/\"\(self.representation(for: ask))\""
            case .strong: "\"\(self.representation(for: ask))\""
            }
        }
    }

    /// A response that the origin has given.
    struct Response {
        let id: Int
        let version: Version
        let use: Course.Use
        let status: UInt16
        let ask: Course.Ask
        /// The client that its request is from; nil for a renewal in the background.
        let asker: Int?
        /// The place of its request in the order of all requests of the cache; nil if the cache does not observe it.
        let order: UInt64?
        /// The event at which the request was sent.
        let sent: Int
        let time: CacheTime

        var representation: Int { self.version.representation(for: self.ask) }
    }

    /// A request that has arrived.
    struct Request {
        let head: RequestHead
        let ask: Course.Ask
        let asker: Int?
        let order: UInt64?
        let sent: Int
        let time: CacheTime
        /// The version of the time when it arrived.
        let version: Version
    }

    private(set) var version: Version
    private(set) var responses: [Response] = []

    init(_ use: Course.Use) { self.version = Version(id: 1, status: 200, use: use, tag: .strong, varies: false) }

    /// Answers a request.
    mutating func answer(_ request: Request, _ answer: Course.Answer, at now: CacheTime) -> ResponseHead {
        var version = self.version
        let isConditional = request.head.fields.contains("If-None-Match")
        switch answer.kind {
        case .earlier: version = request.version
        case .new(let use, let tag, let varies): version = self.new(200, use, tag, varies: varies)
        case .missing(let use): version = self.new(404, use, .none, varies: false)
        case .failure:
            let failure = Version(id: 0, status: 503, use: .nothing, tag: .none, varies: false)
            return self.note(failure, 503, .nothing, request, [:], at: now)
        case .foreign where isConditional:
            return self.note(version, 304, version.use, request, ["ETag": "\"foreign\""], at: now)
        case .present, .foreign: break
        }
        var fields = Fields()
        let tag = version.entityTag(for: request.ask)
        if let tag { fields.append("ETag", tag) }
        if isConditional, let tag, request.head.fields.values(of: "If-None-Match") == [tag] {
            // A head that says nothing leaves the stored directives as they are.
            let use =
                version.use == .nothing ? .nothing : answer.use.flatMap { $0 == .nothing ? nil : $0 } ?? version.use
            return self.note(version, 304, use, request, fields, at: now)
        }
        if case .range(let start, let count) = request.ask.kind, request.head.fields.contains("Range"),
            version.status == 200, start < version.length
        {
            let end = min(start + count, version.length)
            fields.append("Content-Range", "bytes \(start)-\(end - 1)/\(version.length)")
            return self.note(version, 206, version.use, request, fields, at: now)
        }
        return self.note(version, version.status, version.use, request, fields, at: now)
    }

    private mutating func new(_ status: UInt16, _ use: Course.Use, _ tag: Course.Tag, varies: Bool) -> Version {
        self.version = Version(id: self.version.id + 1, status: status, use: use, tag: tag, varies: varies)
        return self.version
    }

    private mutating func note(
        _ version: Version, _ status: UInt16, _ use: Course.Use, _ request: Request, _ fields: Fields, at now: CacheTime
    ) -> ResponseHead {
        let response = Response(
            id: self.responses.count, version: version, use: use, status: status, ask: request.ask,
            asker: request.asker,
            order: request.order, sent: request.sent, time: now)
        self.responses.append(response)
        var fields = fields
        fields.append("Date", HTTPDate.text(now.seconds))
        fields.append("X-Response", "\(response.id)")
        fields.append("Cache-Tag", version.surrogateKey)
        if let directives = use.directives { fields.append("Cache-Control", directives) }
        if use == .setCookie { fields.append("Set-Cookie", "of=\(response.id)") }
        if version.varies { fields.append("Vary", "X-Variant") }
        if request.ask.kind == .head { fields.append("Content-Length", "\(version.length)") }
        return ResponseHead(status: status, fields: fields)
    }

    /// The response that has made or last confirmed a head.
    func response(of head: ResponseHead) -> Response? {
        head.fields.values(of: "X-Response").first.flatMap(Int.init).map { self.responses[$0] }
    }
}

extension SessionCourse.Use {
    var directives: String? {
        switch self {
        case .fresh, .setCookie: "max-age=10"
        case .publicly: "public, max-age=10"
        case .noCache: "no-cache"
        case .mustRevalidate: "max-age=0, must-revalidate"
        case .staleWhileRevalidate: "max-age=3, stale-while-revalidate=10"
        case .staleIfError: "max-age=3, stale-if-error=20"
        case .staleEither: "max-age=3, stale-while-revalidate=10, stale-if-error=20"
        case .isPrivate: "private, max-age=10"
        case .noStore: "no-store"
        case .nothing: nil
        }
    }

    /// The time in seconds for which it is fresh.
    var lifetime: Int64 {
        switch self {
        case .fresh, .setCookie, .publicly: 10
        case .staleWhileRevalidate, .staleIfError, .staleEither: 3
        case .noCache, .mustRevalidate, .isPrivate, .noStore, .nothing: 0
        }
    }

    /// True if it may be used without a validation.
    func isUsable(at age: Int64, by ask: SessionCourse.Ask) -> Bool {
        if self == .noCache { return false }
        if ask.mode == .preferCache || ask.mode == .onlyCache { return true }
        if ask.kind == .noCache { return false }
        let isRenewable = self == .staleWhileRevalidate || self == .staleEither
        return age < self.lifetime || (isRenewable && age <= self.lifetime + 10)
    }

    /// True if it may be used if the origin fails.
    func isUsableAfterFailure(at age: Int64, by ask: SessionCourse.Ask) -> Bool {
        (self == .staleIfError || self == .staleEither) && age <= self.lifetime + 20 && ask.kind != .noCache
    }

    /// True if other clients than the one that asked may get the response.
    func isShareable(from ask: SessionCourse.Ask, _ status: UInt16) -> Bool {
        if self == .isPrivate || self == .noStore { return false }
        // The cookies of a 304 go to one client; the stored response has none.
        if self == .setCookie, status != 304 { return false }
        return ask.user == 0 || self == .publicly || self == .mustRevalidate
    }
}
