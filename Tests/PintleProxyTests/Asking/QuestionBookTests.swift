// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleActivity
import PintleMessage
import PintlePolicy
import PintleTesting
import Testing

@testable import PintleProxy

/// The open questions as a value, beside a plain model of them.
struct QuestionBookTests {
    private static let hosts = (0..<6).compactMap { Authority("host\($0).example", defaultPort: 443) }
    private static let request = AskedQuestion.Request(
        RequestHead(
            method: "GET", target: .absolute(scheme: .https, authority: hosts[0], path: "/a?secret"), minorVersion: 1),
        of: nil)
    private static let bounds: AskConfiguration = {
        var bounds = AskConfiguration()
        (bounds.timeout, bounds.waiting) = (.seconds(10), 3)
        return bounds
    }()

    private static func time(_ seconds: Int) -> NIODeadline { .uptimeNanoseconds(0) + .seconds(Int64(seconds)) }

    private static func ask(
        _ book: inout QuestionBook, _ host: Int, as waiter: UInt64, at second: Int, id: String = "id"
    ) -> QuestionBook.Reply {
        book.ask(
            about: Self.hosts[host], by: "destinations.default", Self.request, as: waiter, within: Self.bounds, id: id,
            at: Self.time(second), .now())
    }

    private static func word(_ effect: QuestionBook.Withdrawal) -> String {
        switch effect {
        case .unknown: "unknown"
        case .othersWait: "others wait"
        case .closed(let question): "closed \(question.authority)"
        }
    }

    private static func outcome(_ reply: QuestionBook.Reply) -> AskOutcome? {
        if case .settled(let outcome) = reply { outcome } else { nil }
    }

    @Test func `without a place for answers a request is refused at once`() {
        var book = QuestionBook()
        #expect(
            Self.outcome(Self.ask(&book, 0, as: 1, at: 0))
                == .denied(
                    "nothing can answer; the terminal of pintle run can, the page of an admin endpoint, and ask.webhook"
                ))
        #expect(book.questions.isEmpty)
    }

    @Test func `requests for one host wait together, and an answer is for those that wait`() {
        var book = QuestionBook()
        book.add(.page)
        #expect(Self.outcome(Self.ask(&book, 0, as: 1, at: 0, id: "a")) == nil)
        #expect(Self.outcome(Self.ask(&book, 0, as: 2, at: 4, id: "b")) == nil)
        #expect(book.questions.map(\.id) == ["a"] && book.questions[0].waiting == 2)
        #expect(book.questions[0].request.url == "https://host0.example/a")
        let answered = book.answer("a", Answer(allows: true, .once), at: .page, now: Self.time(5), .now())
        #expect(answered?.waiters == [1, 2] && answered?.outcome == .allowed("granted on the page, once"))
        let again = book.answer("a", Answer(allows: true, .once), at: .page, now: Self.time(5), .now())
        #expect(again == nil)
        #expect(Self.outcome(Self.ask(&book, 0, as: 3, at: 6)) == nil)
        #expect(book.grants.map(\.requests) == [2])
        #expect(book.grants[0].line == "destinations: {allow: [\"host0.example:443\"]}")
    }

    @Test func `an answer for the run is for later requests, too`() {
        var book = QuestionBook()
        book.add(.terminal)
        _ = Self.ask(&book, 0, as: 1, at: 0, id: "a")
        _ = Self.ask(&book, 1, as: 2, at: 0, id: "b")
        _ = book.answer("a", Answer(allows: true, .run), at: .terminal, now: Self.time(1), .now())
        _ = book.answer("b", Answer(allows: false, .run), at: .terminal, now: Self.time(1), .now())
        #expect(Self.outcome(Self.ask(&book, 0, as: 3, at: 99)) == .allowed("granted at the terminal, for this run"))
        #expect(Self.outcome(Self.ask(&book, 1, as: 4, at: 99)) == .denied("denied at the terminal, for this run"))
        #expect(book.grants.map(\.requests) == [2])
    }

    @Test func `a late answer is none`() {
        var book = QuestionBook()
        book.add(.page)
        _ = Self.ask(&book, 0, as: 1, at: 0, id: "a")
        let answered = book.answer("a", Answer(allows: true, .run), at: .page, now: Self.time(10), .now())
        #expect(answered == nil)
        let late = book.expire(Self.time(10))
        #expect(late.map(\.waiters) == [[1]])
        #expect(late.first?.outcome == .denied("not answered within 10s (ask.timeout)"))
    }

    private static func counts(_ waiting: Int, _ ends: [QuestionEnd]) -> QuestionCounts {
        var counts = QuestionCounts()
        counts.waiting = waiting
        for end in ends { counts.close(as: end) }
        return counts
    }

    @Test func `a question is counted once, by its end, however many requests wait`() {
        var book = QuestionBook()
        // Nothing can answer, so this is no question.
        _ = Self.ask(&book, 0, as: 1, at: 0, id: "a")
        #expect(book.counts == QuestionCounts())
        book.add(.page)
        for host in 0..<3 {
            for waiter in 0..<2 { _ = Self.ask(&book, host, as: UInt64(10 * host + waiter), at: 0, id: "\(host)") }
        }
        // A fourth may not wait.
        _ = Self.ask(&book, 3, as: 40, at: 0, id: "3")
        #expect(book.counts == Self.counts(3, []))
        _ = book.answer("0", Answer(allows: true, .once), at: .page, now: Self.time(1), .now())
        _ = book.answer("1", Answer(allows: false, .run), at: .page, now: Self.time(1), .now())
        _ = book.answer("1", Answer(allows: false, .run), at: .page, now: Self.time(1), .now())
        #expect(book.counts == Self.counts(1, [.once, .denied]))
        _ = book.withdraw(20)
        _ = book.withdraw(20)
        #expect(book.counts == Self.counts(1, [.once, .denied]))
        _ = book.withdraw(21)
        #expect(book.counts == Self.counts(0, [.once, .denied, .withdrawn]))
        _ = Self.ask(&book, 4, as: 50, at: 0, id: "4")
        _ = Self.ask(&book, 5, as: 51, at: 0, id: "5")
        _ = book.answer("4", Answer(allows: true, .run), at: .page, now: Self.time(1), .now())
        // The answers for the run hold for these.
        for host in [1, 4] { _ = Self.ask(&book, host, as: 60, at: 2) }
        _ = book.expire(Self.time(10))
        #expect(book.counts == Self.counts(0, [.once, .denied, .withdrawn, .run, .expired]))
    }

    @Test func `a permission that cannot be remembered counts as one for the requests that wait`() {
        var book = QuestionBook()
        book.add(.webhook)
        for number in 0...QuestionBook.mostRemembered {
            let host = Authority("host\(number).example", defaultPort: 443)
            guard let host else { continue }
            _ = book.ask(
                about: host, by: "destinations.default", Self.request, as: UInt64(number), within: Self.bounds,
                id: "\(number)", at: Self.time(0), .now())
            _ = book.answer("\(number)", Answer(allows: true, .run), at: .webhook, now: Self.time(1), .now())
        }
        #expect(book.counts[end: .run] == QuestionBook.mostRemembered && book.counts[end: .once] == 1)
        #expect(book.grants.count == QuestionBook.mostRemembered && book.otherGrants == 1)
    }

    @Test func `as many requests as clients have streams wait for one question, and leave in any order`() {
        var book = QuestionBook()
        book.add(.page)
        let count: UInt64 = 60_000
        for waiter in 1...count { _ = Self.ask(&book, 0, as: waiter, at: 0, id: "a") }
        #expect(book.questions.map(\.waiting) == [Int(count)])
        for waiter in stride(from: count, to: 2, by: -1) where Self.word(book.withdraw(waiter)) != "others wait" {
            Issue.record("\(waiter) was the last")
        }
        let answered = book.answer("a", Answer(allows: true, .once), at: .page, now: Self.time(5), .now())
        #expect(answered?.waiters == [1, 2] && Self.word(book.withdraw(1)) == "unknown")
    }

    /// A plain reading of the promises: who waits for which host, and since when.
    private struct Model {
        var waiting: [(waiter: UInt64, host: Int)] = []
        var deadlines: [Int: Int] = [:]
        var forRun: [Int: Bool] = [:]
        var ids: [Int: String] = [:]
        var counts = QuestionCounts()
    }

    @Test func `random courses keep to the model: each request is settled once, in time, and the bounds hold`() {
        var random = SeededGenerator(seed: Seed.ofThisRun)
        for course in 0..<300 {
            var (book, model) = (QuestionBook(), Model())
            book.add(.page)
            var (now, waiter) = (0, UInt64(0))
            func close(_ host: Int, _ waiters: [UInt64], _ what: String) {
                let expected = model.waiting.filter { $0.host == host }.map(\.waiter)
                #expect(waiters == expected, "\(what) in course \(course) of seed \(Seed.ofThisRun)")
                model.waiting.removeAll { $0.host == host }
                (model.deadlines[host], model.ids[host]) = (nil, nil)
            }
            for _ in 0..<60 {
                let host = Int.random(in: 0..<6, using: &random)
                switch Int.random(in: 0..<6, using: &random) {
                case 0, 1:
                    waiter += 1
                    let isOpen = model.deadlines[host].map { $0 > now } == true
                    let reply = Self.ask(&book, host, as: waiter, at: now, id: "\(course)/\(waiter)")
                    if let allows = model.forRun[host] {
                        let words = allows ? "granted on the page, for this run" : "denied on the page, for this run"
                        #expect(Self.outcome(reply) == (allows ? .allowed(words) : .denied(words)))
                    } else if isOpen || model.deadlines.count < 3 {
                        #expect(Self.outcome(reply) == nil)
                        if !isOpen { (model.deadlines[host], model.ids[host]) = (now + 10, "\(course)/\(waiter)") }
                        model.waiting.append((waiter, host))
                    } else {
                        #expect(
                            Self.outcome(reply) == .denied("3 questions wait for an answer already (ask.waiting)"))
                    }
                case 2:
                    guard let leaving = model.waiting.randomElement(using: &random) else { continue }
                    let effects = [book.withdraw(leaving.waiter), book.withdraw(leaving.waiter)].map(Self.word)
                    model.waiting.removeAll { $0.waiter == leaving.waiter }
                    let isLast = !model.waiting.contains { $0.host == leaving.host }
                    #expect(effects == [isLast ? "closed \(Self.hosts[leaving.host])" : "others wait", "unknown"])
                    if isLast {
                        (model.deadlines[leaving.host], model.ids[leaving.host]) = (nil, nil)
                        model.counts.close(as: .withdrawn)
                    }
                case 3, 4:
                    let answer = Answer(
                        allows: .random(using: &random), .allCases.randomElement(using: &random) ?? .once)
                    let id = model.ids[host] ?? "none"
                    let closed = book.answer(id, answer, at: .page, now: Self.time(now), .now())
                    guard let deadline = model.deadlines[host], deadline > now else {
                        #expect(closed == nil)
                        continue
                    }
                    close(host, closed?.waiters ?? [], "an answer")
                    model.counts.close(as: !answer.allows ? .denied : answer.scope == .run ? .run : .once)
                    if answer.scope == .run { model.forRun[host] = answer.allows }
                default:
                    now += Int.random(in: 0..<6, using: &random)
                    let late = model.deadlines.filter { $0.value <= now }.map(\.key)
                    let closed = book.expire(Self.time(now))
                    #expect(Set(closed.map(\.question.authority)) == Set(late.map { Self.hosts[$0] }))
                    for closed in closed {
                        guard let host = Self.hosts.firstIndex(of: closed.question.authority) else { continue }
                        close(host, closed.waiters, "the end of the time")
                        model.counts.close(as: .expired)
                    }
                }
                #expect(book.questions.count == model.deadlines.count && book.questions.count <= 3)
                #expect(book.questions.map(\.waiting).reduce(0, +) == model.waiting.count)
                model.counts.waiting = model.deadlines.count
                #expect(book.counts == model.counts)
            }
        }
    }
}
