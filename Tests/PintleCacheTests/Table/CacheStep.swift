// SPDX-License-Identifier: Apache-2.0

import PintleCache
import PintleMessage

/// A step of a case, written as `GET /a ~ Name: value < 200 ~ Name: value => words`.
///
/// - The part before `<` is the request. `GET` and `/a` can be left out.
/// - The part after `<` is the origin's answer; `error` if none comes. `length=5` is the length of the body, 100 unless
///   given; `received=5` is the number of bytes of it that come; `delay=5` is the time it takes, in seconds. Date is the
///   time of the step unless given; `Date: none` leaves it out.
/// - The part after `=>` is the expectation: the decision first, then words that occur. `Name:value` is a field of the
///   client's answer, `!Name` a field that is missing, `sent.Name:value` and `!sent.Name` are the same for the request to
///   the origin; an underscore is a space in them.
/// - `@+60` in a value is the date 60 seconds after the step; `@rfc850` and `@asctime` are the date of the step in the
///   obsolete formats.
struct CacheStep {
    /// The answer of the origin.
    struct Response {
        /// Nil for an origin that cannot be reached.
        var head: ResponseHead?
        var length: UInt64 = 100
        var received: UInt64?
        var delay: Int64 = 0
    }

    var request: RequestHead
    var url: String
    var response: Response?
    var expected: [String]

    init(_ text: String, now: CacheTime) {
        let halves = Self.cut(" " + text, at: " => ")
        self.expected = halves.rest.map { $0.split(separator: " ").map(String.init) } ?? []
        let sides = Self.cut(halves.first, at: " < ")
        let (words, fields) = Self.head(sides.first, now)
        let method = words.first { !$0.hasPrefix("/") } ?? "GET"
        let path = words.first { $0.hasPrefix("/") } ?? "/a"
        self.request = RequestHead(method: method, target: .origin(path: path), fields: fields)
        self.url = "http://h\(path)"
        guard let answer = sides.rest else { return }
        var (status, answered) = Self.head(answer, now)
        var response = Response()
        for option in status.filter({ $0.contains("=") }) {
            let (name, value) = Self.cut(option, at: "=")
            switch name {
            case "length": response.length = value.flatMap(UInt64.init) ?? 0
            case "received": response.received = value.flatMap(UInt64.init)
            case "delay": response.delay = value.flatMap(Int64.init) ?? 0
            default: fatalError("no option: \(option)")
            }
        }
        status.removeAll { $0.contains("=") }
        if answered.values(of: "Date") == ["none"] {
            answered.remove("Date")
        } else if !answered.contains("Date") {
            answered.append("Date", HTTPDate.text(now.seconds + response.delay))
        }
        if let part = answered["Content-Range"].flatMap(ContentRange.init), case .bytes(let range, _) = part,
            !answer.contains("length=")
        {
            response.length = range.upperBound - range.lowerBound
        }
        response.head = status.first.flatMap(UInt16.init).map { ResponseHead(status: $0, fields: answered) }
        self.response = response
    }

    /// The expectations that were not met.
    func differences(_ event: CacheModel.Event) -> [String] {
        var differences: [String] = []
        if let first = self.expected.first, event.words.first != first { differences.append(first) }
        for word in self.expected.dropFirst() where !Self.holds(word, event) { differences.append(word) }
        return differences
    }

    private static func holds(_ word: String, _ event: CacheModel.Event) -> Bool {
        if event.words.contains(word) { return true }
        let isAbsent = word.hasPrefix("!")
        var name = isAbsent ? String(word.dropFirst()) : word
        let isSent = name.hasPrefix("sent.")
        if isSent { name.removeFirst(5) }
        guard let fields = isSent ? event.sent?.fields : event.answer?.fields else { return false }
        if isAbsent { return !fields.contains(name) }
        let (field, value) = Self.cut(name, at: ":")
        guard let value else { return false }
        return fields.values(of: field).joined(separator: "|") == value.replacing("_", with: " ")
    }

    private static func head(_ text: String, _ now: CacheTime) -> (words: [String], fields: Fields) {
        let parts = text.split(separator: "~", omittingEmptySubsequences: false).map { Self.trimmed(String($0)) }
        var fields = Fields()
        for part in parts.dropFirst() {
            let (name, value) = Self.cut(part, at: ":")
            fields.append(name, Self.dated(Self.trimmed(value ?? ""), now))
        }
        return (parts.first.map { $0.split(separator: " ").map(String.init) } ?? [], fields)
    }

    private static func dated(_ value: String, _ now: CacheTime) -> String {
        guard value.hasPrefix("@") else { return value }
        if let seconds = Int64(value.dropFirst()) { return HTTPDate.text(now.seconds + seconds) }
        // Thu, 01 Jan 2026 00:00:00 GMT
        let parts = HTTPDate.text(now.seconds).split(separator: " ").map(String.init)
        return value == "@rfc850"
            ? "Thursday, \(parts[1])-\(parts[2])-\(parts[3].suffix(2)) \(parts[4]) GMT"
            : "Thu \(parts[2]) \(parts[1].replacing("0", with: " ", maxReplacements: 1)) \(parts[4]) \(parts[3])"
    }

    private static func trimmed(_ text: String) -> String {
        String(decoding: ASCII.trimmed(Array(text.utf8)[...]), as: UTF8.self)
    }

    private static func cut(_ text: String, at mark: String) -> (first: String, rest: String?) {
        guard let place = text.firstRange(of: mark) else { return (text, nil) }
        return (String(text[..<place.lowerBound]), String(text[place.upperBound...]))
    }
}
