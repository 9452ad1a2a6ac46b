// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleActivity
import PintleMessage
import PintleTesting
import Testing

@testable import PintlePolicy

@Suite struct ExchangeFilterTests {
    @Test(arguments: FilterVectors.all.filters)
    func `a filter chooses what it says (contract §4)`(vector: FilterVectors.Match) throws {
        let filter = try ExchangeFilter(vector.filter)
        let chosen = try FilterVectors.all.exchanges.filter { filter.matches(try $0.shown) }
        #expect(chosen.map(\.id) == vector.matches)
    }

    @Test(arguments: FilterVectors.all.faults)
    func `the fault of a filter is told with its place (contract §4)`(vector: FilterVectors.Fault) throws {
        let error = try #require(throws: FilterError.self) { try ExchangeFilter(vector.filter) }
        #expect(error.position == vector.at)
        #expect(error.reason.contains(vector.says))
    }

    @Test func `every operator has a case of its own`() {
        let filters = FilterVectors.all.filters.map(\.filter)
        for name in FilterOperator.allCases.map(\.rawValue) {
            #expect(filters.contains { "\($0) ".contains("~\(name) ") || $0.contains("~\(name))") }, "~\(name)")
        }
    }

    @Test func `every word that an operator asks for has a case of its own`() {
        let filters = FilterVectors.all.filters.map { "\($0.filter) " }
        for name in FilterOperator.allCases {
            guard case .word(let words) = name.argument else { continue }
            for word in words.map({ "~\(name.rawValue) \($0) " }) {
                #expect(filters.contains { $0.contains(word) }, "\(word)")
            }
        }
    }

    @Test func `two spellings of one text are equal, however much longer one is`() {
        let test = TextTest.equals(lowercase: "\u{390}")
        #expect(test.holds(for: "\u{1FBE}\u{308}\u{301}") && !test.holds(for: "\u{1FBE}\u{301}\u{308}"))
    }

    @Test func `a mark below the filter shows the place`() throws {
        let filter = "~q\n& ~rout x"
        let error = try #require(throws: FilterError.self) { try ExchangeFilter(filter) }
        #expect(
            error.lines(in: filter) == [
                "this is not a filter: there is no ~rout; did you mean ~route?, at character 6", "  ~q & ~rout x",
                "       ^",
            ])
    }

    @Test func `neither length nor depth is without a bound`() throws {
        #expect(throws: FilterError.self) { try ExchangeFilter(String(repeating: "x", count: 4097)) }
        #expect(throws: FilterError.self) { try ExchangeFilter(String(repeating: "(", count: 4096)) }
        #expect(throws: FilterError.self) { try ExchangeFilter(String(repeating: "!", count: 4095) + "x") }
        let widest = try ExchangeFilter(String(repeating: "~q|", count: 1364) + "~q")
        #expect(!widest.matches(try FilterVectors.all.exchanges[0].shown))
        _ = try ExchangeFilter(String(repeating: "(", count: 60) + "~q" + String(repeating: ")", count: 60))
    }

    /// The search is given up after a number of steps, and the exchange does not match.
    @Test func `a regular expression that would take for ever ends`() throws {
        var record = ExchangeRecord(time: Timestamp(milliseconds: 0), id: "a")
        record.url = String(repeating: "a", count: 200)
        let shown = ShownExchange(record, request: Fields(), response: Fields(), redaction: .off)
        #expect(try !ExchangeFilter("~u /(a*)*(a*)*(a*)*b$/").matches(shown))
    }

    @Test func `random text is a filter or has a fault within it`() {
        var random = SeededGenerator(seed: 30)
        let pieces = [
            "~", "~d ", "~c ", "5xx", "(", ")", "|", "&", "!", " ", "'", "\"", "/", "\\", "x", "~q", "é", "~slow ",
            "1s",
        ]
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...12, using: &random)
            let text = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            do throws(FilterError) { _ = try ExchangeFilter(text) } catch {
                #expect((0...text.unicodeScalars.count).contains(error.position), "\(text)")
            }
        }
    }
}

@Suite struct ShownExchangeTests {
    private var record: ExchangeRecord {
        var record = ExchangeRecord(time: Timestamp(milliseconds: 0), id: "a")
        record.url = "http://user:password@a.test/?token=abc"
        record.error = "http://b.test/?key=abc is not reachable"
        return record
    }

    @Test func `secrets are neither shown nor told by filters`() throws {
        let shown = ShownExchange(
            self.record, request: ["Authorization": "Bearer abc", "Accept": "text/plain"],
            response: ["Set-Cookie": "a=abc"], redaction: .on)
        #expect(shown.record.url == "http://a.test/?token=***")
        #expect(shown.record.error == "http://b.test/?key=*** is not reachable")
        #expect(shown.requestFields.lines == ["Authorization: ***", "Accept: text/plain"])
        #expect(try !ExchangeFilter("abc | ~h abc | ~u password").matches(shown))
        #expect(try ExchangeFilter("~hq 'accept: text'").matches(shown))
    }

    @Test func `with redact off everything is shown`() throws {
        let shown = ShownExchange(
            self.record, request: ["Authorization": "Bearer abc"], response: Fields(), redaction: .off)
        #expect(try ExchangeFilter("token=abc ~hq 'bearer abc'").matches(shown))
    }
}
