// SPDX-License-Identifier: Apache-2.0

import PintleCache
import PintleMessage
import Testing

/// Answers that bypass the cache, and their effect on stored ones.
@Suite struct PassingTests {
    private let rules = CacheRules()
    private static let now = CacheTime(seconds: 1_767_225_600)
    private static let times = ExchangeTimes(request: Self.now, response: Self.now)
    private static let modified: Fields = ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"]

    private static func stored(_ fields: Fields, _ range: Range<UInt64>? = nil, ago: Int64 = 100) -> StoredResponse {
        let time = CacheTime(seconds: Self.now.seconds - ago)
        var head = ResponseHead(status: 200, fields: fields)
        head.fields.append("Date", HTTPDate.text(time.seconds))
        return StoredResponse(head: head, requestTime: time, responseTime: time, length: 100, range: range)
    }

    private static func request(_ fields: Fields, method: String = "GET") -> RequestHead {
        RequestHead(method: method, target: .origin(path: "/"), fields: fields)
    }

    private static func head(_ status: UInt16, _ fields: Fields) -> ResponseHead {
        var head = ResponseHead(status: status, fields: fields)
        head.fields.append("Cache-Control", "max-age=60")
        return head
    }

    /// The places that an answer concerns, with `+` for those that it brings up to date and `-` for those that go.
    private func updates(
        _ stored: [StoredResponse], _ head: ResponseHead, to request: RequestHead
    ) -> [String] {
        self.rules.updates(of: stored, by: head, to: request, at: Self.times).map { place, update in
            switch update {
            case .store(let new): new.responseTime == Self.now ? "+\(place)" : "?\(place)"
            case .outdated: "-\(place)"
            case .answerOnce(_, let reason, let keepsStored): "\(reason)\(keepsStored ? "=" : "-")\(place)"
            case .unrelated: "unrelated"
            }
        }
    }

    @Test func `a 304 with a strong tag is about all that have it`() {
        let stored = [
            Self.stored(["ETag": "\"a\""]), Self.stored(["ETag": "\"b\""]), Self.stored(["ETag": "\"a\""], 0..<10),
        ]
        let request = Self.request(["If-None-Match": "\"a\", \"b\""])
        #expect(Set(self.updates(stored, Self.head(304, ["ETag": "\"a\""]), to: request)) == ["+0", "+2"])
        #expect(self.updates(stored, Self.head(304, ["ETag": "\"c\""]), to: request) == [])
    }

    @Test func `a 304 with a weak tag is about the latest one`() {
        let stored = [Self.stored(["ETag": "W/\"a\""], ago: 200), Self.stored(["ETag": "W/\"a\""], ago: 100)]
        let request = Self.request(["If-None-Match": "W/\"a\""])
        #expect(self.updates(stored, Self.head(304, ["ETag": "W/\"a\""]), to: request) == ["+1"])
    }

    @Test func `a 304 without validators is about what the client has, and that must be the same`() {
        let (tagged, dated) = (Self.stored(["ETag": "\"a\""]), Self.stored(Self.modified))
        func updates(_ stored: StoredResponse, _ conditions: Fields) -> [String] {
            self.updates([stored], Self.head(304, [:]), to: Self.request(conditions))
        }
        #expect(updates(tagged, ["If-None-Match": "\"a\""]) == ["+0"])
        #expect(updates(tagged, ["If-None-Match": "\"b\""]) == [])
        #expect(updates(tagged, ["If-None-Match": "\"a\", \"b\""]) == [])
        #expect(updates(tagged, ["If-Modified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"]) == [])
        #expect(updates(dated, ["If-Modified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"]) == ["+0"])
        #expect(updates(dated, ["If-Modified-Since": "Sun, 06 Nov 1994 08:49:38 GMT"]) == [])
    }

    @Test func `what a request must not have stored changes nothing`() {
        let stored = [Self.stored(["ETag": "\"a\""])]
        let request = Self.request(["If-None-Match": "\"a\"", "Authorization": "Basic eDp5"])
        #expect(self.updates(stored, Self.head(304, ["ETag": "\"a\""]), to: request) == ["authorization=0"])
        let forbidden = ResponseHead(status: 304, fields: ["ETag": "\"a\"", "Cache-Control": "no-store"])
        let plain = Self.request(["If-None-Match": "\"a\""])
        #expect(self.updates(stored, forbidden, to: plain) == ["noStore-0"])
    }

    @Test func `the answer to HEAD freshens the same and removes another`() {
        let stored = [Self.stored(["ETag": "\"a\""]), Self.stored(["ETag": "\"b\""])]
        let head = Self.head(200, ["ETag": "\"a\"", "Content-Length": "100"])
        #expect(Set(self.updates(stored, head, to: Self.request([:], method: "HEAD"))) == ["+0", "-1"])
        #expect(self.updates(stored, head, to: Self.request([:])) == [])
        #expect(self.updates(stored, Self.head(404, [:]), to: Self.request([:], method: "HEAD")) == [])
    }

    @Test func `a 206 of another state removes, and one of the same is told of when its bytes are here`() {
        let stored = [Self.stored(["ETag": "\"a\""]), Self.stored(["ETag": "\"b\""])]
        let head = Self.head(206, ["ETag": "\"b\"", "Content-Range": "bytes 0-9/100"])
        #expect(self.updates(stored, head, to: Self.request(["Range": "bytes=0-9"])) == ["-0"])
    }

    // MARK: Parts

    private func joined(_ part: PartialResponse?, _ stored: StoredResponse...) -> (Range<UInt64>, [Int])? {
        part.flatMap { self.rules.joined($0, with: stored, at: Self.times) }
            .map { ($0.response.range ?? 0..<$0.response.length, $0.places.sorted()) }
    }

    private static let tag: Fields = ["ETag": "\"a\""]

    private static func part(_ range: String, _ more: Fields = [:]) -> PartialResponse? {
        var head = Self.head(206, Self.tag)
        head.fields.append("Content-Range", "bytes \(range)/100")
        for (name, value) in more.pairs { head.fields.append(name, value) }
        return PartialResponse(head, to: Self.request(["Range": "bytes=\(range)"]))
    }

    @Test func `a part closes the gap between two, and leaves alone what it does not meet`() throws {
        let (first, second) = (Self.stored(Self.tag, 0..<10), Self.stored(Self.tag, 20..<30))
        let both = try #require(self.joined(Self.part("10-19"), first, Self.stored(Self.tag, 40..<50), second))
        #expect(both == (0..<30, [0, 2]))
        let alone = try #require(self.joined(Self.part("12-17"), first, second))
        #expect(alone == (12..<18, []))
    }

    @Test func `bytes that come with a cookie are nobody else's`() {
        #expect(self.joined(Self.part("10-19", ["Set-Cookie": "a=b"]), Self.stored(Self.tag, 0..<10)) == nil)
        #expect(self.joined(Self.part("10-19", ["Set-Cookie": "a=b"])) == nil)
    }

    @Test func `a body that breaks off is a part of what it would have been`() throws {
        func cut(_ head: ResponseHead, _ received: UInt64, of length: UInt64?, range: String? = nil) -> PartialResponse?
        {
            let fields: Fields = range.map { ["Range": $0] } ?? [:]
            return PartialResponse(head, to: Self.request(fields), received: received, of: length)
        }
        let whole = Self.head(200, Self.tag)
        #expect(try #require(self.joined(cut(whole, 40, of: 100))) == (0..<40, []))
        #expect(try #require(self.joined(cut(whole, 40, of: 100), Self.stored(Self.tag, 30..<100))) == (0..<100, [0]))
        #expect(cut(whole, 0, of: 100) == nil && cut(whole, 101, of: 100) == nil && cut(whole, 1, of: nil) == nil)
        #expect(cut(Self.head(404, Self.tag), 40, of: 100) == nil)
        let part = Self.head(206, ["ETag": "\"a\"", "Content-Range": "bytes 10-19/100"])
        #expect(cut(part, 4, of: 10, range: "bytes=10-19")?.range == 10..<14)
        #expect(cut(part, 11, of: 11, range: "bytes=10-19") == nil)
        // Without a strong validator the part cannot be assigned to a representation.
        #expect(self.joined(cut(Self.head(200, ["ETag": "W/\"a\""]), 40, of: 100)) == nil)
        // A complete response can still be confirmed, or be the answer when an origin fails.
        #expect(self.joined(cut(whole, 40, of: 100), Self.stored(["ETag": "\"b\""])) == nil)
    }
}
