// SPDX-License-Identifier: Apache-2.0

import PintleCache
import Testing

@Suite struct CacheStatusTests {
    @Test func `a hit says how long it stays fresh`() {
        var status = CacheStatus(cache: .init("pintle"), way: .hit)
        status.ttl = 376
        #expect(status.fieldValue == "pintle;hit;ttl=376")
        status.ttl = -412
        #expect(status.fieldValue == "pintle;hit;ttl=-412")
        status.ttl = .min
        #expect(status.fieldValue == "pintle;hit;ttl=-999999999999999")
    }

    @Test func `what was forwarded says why and what came of it`() {
        var status = CacheStatus(cache: .init("pintle"), way: .forward(.stale))
        status.forwardStatus = 304
        status.collapsed = true
        status.stored = true
        #expect(status.fieldValue == "pintle;fwd=stale;fwd-status=304;stored;collapsed")
    }

    @Test(arguments: ForwardReason.allCases)
    func `each reason is a token of RFC 9211`(reason: ForwardReason) {
        let known = ["bypass", "method", "uri-miss", "vary-miss", "request", "stale", "partial"]
        #expect(known.contains(reason.rawValue))
        #expect(CacheStatus(cache: .init("c"), way: .forward(reason)).fieldValue == "c;fwd=\(reason.rawValue)")
    }

    @Test(arguments: [
        ("pintle", "pintle"), ("a/b:c", "a/b:c"), ("*", "*"), ("1a", "\"1a\""), ("", "\"\""), ("a b", "\"a b\""),
        ("a\"b\\c", "\"a\\\"b\\\\c\""), ("a\r\nb", "\"a??b\""), ("\u{E4}", "\"??\""), ("a;b", "\"a;b\""),
        ("a,b", "\"a,b\""),
    ])
    func `names and details are tokens or strings`(text: String, item: String) {
        #expect(CacheStatus(cache: .init(text), way: .hit).fieldValue == "\(item);hit")
        var status = CacheStatus(cache: .init("c"), way: .none)
        status.detail = text
        #expect(status.fieldValue == "c;detail=\(item)")
    }

    @Test(arguments: Storability.Reason.allCases)
    func `every reason not to store has words and a token`(reason: Storability.Reason) {
        #expect(!reason.words.isEmpty)
        var status = CacheStatus(cache: .init("c"), way: .forward(.uriMiss))
        status.detail = reason.rawValue
        #expect(status.fieldValue == "c;fwd=uri-miss;detail=\(reason.rawValue)")
    }
}
