// SPDX-License-Identifier: Apache-2.0

import PintleActivity
import PintleMessage
import PintleSession
import Testing

@testable import PintlePolicy
@testable import PintleProxy
@testable import PintleWatch

/// Exchanges that are kept for people who look at them afterwards.
struct RecentExchangesTests {
    private let counters = Counters(routes: ["site"])

    private func common(_ address: String = "192.0.2.1") -> CommonFacts {
        CommonFacts(
            client: .user(1000), process: nil, counters: self.counters[0], isRouted: true, verdict: nil,
            violations: [.responseBody], trust: nil, rule: DecidingRule("destinations.default"), revision: "r",
            address: address, tlsVersion: "", httpVersion: "1.1")
    }

    private func ended(
        _ number: UInt64, _ target: RequestTarget? = nil, request: Fields = [:], response: Fields = [:],
        error: String? = nil, common: CommonFacts? = nil
    ) -> EndedExchange {
        let facts = EndedFacts(
            connect: .init(.milliseconds(1)), tls: .init(nil), firstByte: .init(.microseconds(2500)),
            id: ExchangeID(instance: 10, sequence: number), nanoseconds: 7_000_000,
            moment: Timestamp(milliseconds: 5000), bytesIn: 3, bytesOut: 4, retries: 1, redirects: 2, status: 200,
            upstreamStatus: 200, version: .http2, mode: .forward, assurance: nil, problem: nil, cache: nil,
            simulation: nil,
            outcome: .completed, continuesTunnel: false, isCaptured: false, wouldBeDenied: true,
            hasNamelessHello: false, isOpaque: false, reusedConnection: false, hasTimes: true)
        let extras = error.map {
            EndedExtras(ProxyIdentity(), gatewayHost: nil, error: $0, credentials: [], nil, nil, nil, nil)
        }
        let target =
            target ?? .absolute(scheme: .http, authority: Authority(host: "a.example", port: 80), path: "/\(number)")
        let heads = HeadBlock()
        heads.begin("GET", target, request)
        heads.keep(response: response)
        return EndedExchange(facts, common ?? self.common(), extras, KeptHeads(heads))
    }

    private func take(_ exchange: EndedExchange, in recent: RecentExchanges) {
        let heads = HeadBlock()
        let observed = exchange.observed
        heads.begin(exchange.method, exchange.target, observed.requestFields)
        heads.keep(response: observed.responseFields)
        let hash = UInt(bitPattern: exchange.common.address.hashValue)
        recent.take(exchange.facts, exchange.extras, heads, hash: hash) {
            $0 === exchange.common
        } common: {
            exchange.common
        }
    }

    private func urls(_ recent: RecentExchanges) -> [String?] {
        recent.numbers(recent.numbers).map { $0.exchange.record.url }
    }

    @Test func `an exchange comes out as it went in`() throws {
        let recent = RecentExchanges(exchanges: 10, bytes: 64 << 10)
        let request: Fields = ["Host": "a.example", "X-Empty": "", "X-Colon": "a: b:c", "x-empty": "ä"]
        let kept = self.ended(1, request: request, response: ["Content-Type": "text/plain"], error: "it broke")
        self.take(kept, in: recent)
        let found = try #require(recent.numbers(1..<2).first).exchange
        #expect(found.record == kept.observed.record && found.target == kept.target && found.isComplete)
        #expect(found.requestFields == request && found.responseFields == ["Content-Type": "text/plain"])
        let record = found.record
        #expect(record.id == "a-1" && record.time == Timestamp(milliseconds: 4993) && record.error == "it broke")
        #expect((record.connect, record.tlsHandshake, record.firstByte) == (.milliseconds(1), nil, .microseconds(2500)))
        #expect((record.retries, record.redirects, record.bytesIn, record.bytesOut) == (1, 2, 3, 4))
        #expect(record.clientHTTP == "2" && record.http == "1.1")
        #expect(record.decision == "would-deny" && record.route == "site" && record.violations == [.responseBody])
    }

    @Test func `every form of a target is kept`() {
        let recent = RecentExchanges(exchanges: 10, bytes: 64 << 10)
        let authority = Authority(host: "2001:db8::1", port: 8443)
        let targets: [RequestTarget] = [
            .origin(path: "/a?b"), .absolute(scheme: .https, authority: authority, path: "/ä"), .authority(authority),
            .asterisk,
        ]
        for (number, target) in targets.enumerated() { self.take(self.ended(UInt64(number), target), in: recent) }
        #expect(recent.numbers(recent.numbers).map(\.exchange.target) == targets)
    }

    @Test func `the oldest are forgotten by number, and found by id until then`() {
        let recent = RecentExchanges(exchanges: 3, bytes: 64 << 10)
        for number in 1...5 { self.take(self.ended(UInt64(number)), in: recent) }
        #expect(self.urls(recent) == (3...5).map { "http://a.example/\($0)" } && recent.numbers == 3..<6)
        #expect(recent.find(id: "a-2") == nil && recent.find(id: "a-03") == nil && recent.find(id: "") == nil)
        #expect(recent.find(id: "a-4")?.number == 4 && recent.usage.forgotten == 2)
        #expect(recent.numbers(1..<4).map(\.number) == [3])
    }

    @Test func `the oldest are forgotten by bytes, and the memory is used again`() {
        let recent = RecentExchanges(exchanges: 1000, bytes: 10_000)
        for number in 1...500 {
            let long = String(repeating: "x", count: number % 7 * 100)
            let exchange = self.ended(
                UInt64(number), request: ["X-Long": long], error: number % 3 == 0 ? long : nil)
            self.take(exchange, in: recent)
            #expect(recent.usage.bytes <= 10_000 && recent.numbers.upperBound == UInt64(number) + 1)
        }
        let numbers = recent.numbers
        #expect(numbers.count > 3 && recent.usage.forgotten + UInt64(numbers.count) == 500)
        #expect(self.urls(recent) == numbers.map { "http://a.example/\($0)" })
    }

    @Test func `an exchange that is longer than the memory is not kept, and pushes no other out`() {
        let recent = RecentExchanges(exchanges: 10, bytes: 4096)
        self.take(self.ended(1), in: recent)
        self.take(self.ended(2, request: ["X-Long": String(repeating: "x", count: 5000)]), in: recent)
        self.take(self.ended(3), in: recent)
        #expect(self.urls(recent) == ["http://a.example/1", "http://a.example/3"])
    }

    @Test(arguments: [3, 50, 5000])
    func `every exchange is counted once, and so are its rules, also one that is not kept`(room: Int) throws {
        let metrics = ExchangeMetrics()
        let recent = RecentExchanges(exchanges: room, bytes: 64 << 10, metrics: metrics)
        let policy = try PolicyLoader.policy(
            yaml: Array("version: 1\ndestinations: {allow: [a.example]}".utf8), file: "pintle.yaml",
            surroundings: .system(environment: [:]))
        let rules = RuleCounters(policy)
        let common = CommonFacts(
            client: .address(IPAddress(v4: 0x7F00_0001)), process: nil, counters: self.counters[0], isRouted: true,
            verdict: nil, violations: [], trust: nil,
            rule: policy.destinations.judge(Authority(host: "a.example", port: 80), for: .none).rule, revision: nil,
            address: "",
            tlsVersion: "", httpVersion: "", rules: rules)
        for number in 1...500 {
            // It has no room even alone.
            let fields: Fields = number % 100 == 0 ? ["X-Long": String(repeating: "x", count: 70_000)] : [:]
            self.take(self.ended(UInt64(number), request: fields, common: common), in: recent)
            if number % 130 == 0 {
                recent.countAll()
                #expect(metrics.snapshot().routes["site"]?.durations.count == number)
            }
        }
        recent.countAll()
        let routes = metrics.snapshot().routes
        #expect(routes.keys.sorted() == ["site"])
        #expect(routes["site"]?.counts == [.init(method: .get, status: StatusLabel(200)): 500])
        #expect(
            rules.counts.filter { $0.count > 0 }.map { "\($0.rule.name) \($0.count)" }
                == ["clients.allow[0] \"127.0.0.0/8\" 500", "destinations.allow[0] \"a.example\" 500"])
    }

    @Test func `facts that exchanges have in common are kept once, and as long as one of them is`() {
        let recent = RecentExchanges(exchanges: 20, bytes: 1 << 20)
        // More than there are places for with one hash, by turns, and some that few exchanges have.
        let facts = (0..<700).map { self.common("192.0.2.\($0)") }
        for number in 1...5000 {
            let own = number % 7 == 0 ? facts[number % 700] : facts[number % 3]
            self.take(self.ended(UInt64(number), common: own), in: recent)
            let numbers = recent.numbers
            for kept in recent.numbers(numbers) {
                let number = Int(kept.number)
                let expected = number % 7 == 0 ? number % 700 : number % 3
                #expect(kept.exchange.record.address == "192.0.2.\(expected)")
            }
        }
    }

    @Test func `further parts belong to their exchange`() {
        let recent = RecentExchanges(exchanges: 50, bytes: 1 << 20)
        for number in 1...200 {
            self.take(self.ended(UInt64(number), error: number % 3 == 0 ? "error \(number)" : nil), in: recent)
        }
        let errors = recent.numbers(recent.numbers).map { $0.exchange.record.error }
        #expect(errors == (151...200).map { $0 % 3 == 0 ? "error \($0)" : nil })
    }

    @Test func `what is forgotten is released`() {
        weak var counters: Counters?
        weak var route: RouteCounters?
        do {
            let recent = RecentExchanges(exchanges: 2, bytes: 64 << 10)
            let own = RecentExchangesTests()
            (counters, route) = (own.counters, own.counters[0])
            own.take(own.ended(1), in: recent)
            #expect(route != nil)
        }
        #expect(counters == nil && route == nil)
    }
}
