// SPDX-License-Identifier: Apache-2.0

import PintleCache
import PintleMessage
import Testing

@Suite struct StoredResponseTests {
    private static let whole = StoredResponse(
        head: ResponseHead(
            status: 200, reason: "OK",
            fields: [
                "Date": "Sun, 06 Nov 1994 08:49:37 GMT", "ETag": "\"a\"", "X-Empty": "", "x-EMPTY": "twice: \u{E4}",
            ]),
        requestTime: CacheTime(seconds: -1), responseTime: CacheTime(seconds: .max), initialAge: CacheTime.longest,
        selecting: [
            SelectingField(name: "accept", value: Array("a, b".utf8)), SelectingField(name: "x-absent", value: nil),
            SelectingField(name: "x-raw", value: [0xFF, 0x00]),
        ],
        length: (1 << 63) - 1, range: nil, tags: ["one", "zwei"])

    private static var partial: StoredResponse {
        var partial = Self.whole
        partial.range = 5..<500
        (partial.length, partial.tags, partial.selecting) = (500, [], [])
        partial.head.reason = ""
        return partial
    }

    @Test(arguments: [whole, partial])
    func `what is written is read again`(stored: StoredResponse) throws {
        let read = try #require(StoredResponse(decoding: stored.encoded()))
        #expect(read == stored)
        #expect(read.encoded() == stored.encoded())
    }

    @Test func `bytes that are no UTF-8 stay as they are`() throws {
        var stored = Self.whole
        let (name, value): ([UInt8], [UInt8]) = (Array("X-Raw".utf8), [0xFF, 0x80])
        name.withUnsafeBytes { name in value.withUnsafeBytes { stored.head.fields.append(name: name, value: $0) } }
        let read = try #require(StoredResponse(decoding: stored.encoded()))
        #expect(read.encoded() == stored.encoded())
        #expect(read.head.fields.contains("X-Raw") { $0.elementsEqual(value) })
    }

    @Test func `a form that is cut off anywhere is no stored response`() {
        let form = Self.whole.encoded()
        for count in form.indices { #expect(StoredResponse(decoding: form[..<count]) == nil) }
        #expect(StoredResponse(decoding: form + [0]) == nil)
    }

    @Test func `whatever byte is changed, reading ends with a value or none`() {
        for stored in [Self.whole, Self.partial] {
            let form = stored.encoded()
            for place in form.indices {
                for change in [UInt8(1), 0x7F, 0x80, 0xFF] {
                    var changed = form
                    changed[place] ^= change
                    guard let read = StoredResponse(decoding: changed) else { continue }
                    #expect(read.encoded() == changed)
                }
            }
        }
    }

    @Test(arguments: [
        ("Name", "value\r\nSet-Cookie: a=b"), ("Name", "value\n"), ("Name", "\0"), ("Na me", "value"), ("", "value"),
        ("Name\r\n", "value"),
    ])
    func `fields that would break a head in two are not read`(name: String, value: String) {
        var stored = Self.whole
        stored.head.fields = [name: value]
        #expect(StoredResponse(decoding: stored.encoded()) == nil)
    }

    @Test func `a form that is too long is not looked at`() {
        let form = Self.whole.encoded() + [UInt8](repeating: 0, count: StoredResponse.longestForm)
        #expect(StoredResponse(decoding: form) == nil)
    }

    @Test func `a count larger than the form asks for no room`() {
        let start: [UInt8] = [1, 0xC8, 0x01, 0]
        let most: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01]
        #expect(StoredResponse(decoding: start + most) == nil)
        #expect(StoredResponse(decoding: start + most.dropLast() + [0x02]) == nil)
    }

    @Test(arguments: [0..<501, 500..<501, 0..<UInt64.max] as [Range<UInt64>])
    func `a range outside the representation is not read`(range: Range<UInt64>) {
        var stored = Self.partial
        stored.range = range
        #expect(StoredResponse(decoding: stored.encoded()) == nil)
    }

    @Test func `ages saturate`() {
        var stored = Self.whole
        (stored.responseTime, stored.initialAge) = (CacheTime(seconds: .min), 5)
        #expect(stored.age(at: CacheTime(seconds: .max)) == CacheTime.longest)
        #expect(stored.age(at: CacheTime(seconds: .min)) == 5)
        (stored.responseTime, stored.initialAge) = (CacheTime(seconds: 100), 5)
        #expect(stored.age(at: CacheTime(seconds: 103)) == 8)
        #expect(stored.age(at: CacheTime(seconds: 90)) == 15)
        #expect((CacheTime(seconds: .max) + 1).seconds == .max)
        #expect((CacheTime(seconds: .min) + -1).seconds == .min)
    }

    @Test func `keys differ wherever an origin could see a difference`() throws {
        let authority = try #require(Authority("Example.COM:80", defaultPort: 80))
        func key(_ path: String, _ partition: String = "r") -> CacheKey? {
            CacheKey(partition: partition, scheme: .http, authority: authority, path: path)
        }
        #expect(key("/a?b")?.url == "http://example.com/a?b")
        let paths = [
            "/a", "/A", "/%61", "/a/", "//a", "/./a", "/a?", "/a?b", "/a?b&", "/a%2Fb", "/a%2fb", "/a/b", "/a;b",
        ]
        #expect(Set(paths.map { key($0) }).count == paths.count)
        #expect(key("/a", "r") != key("/a", "s"))
        #expect(key("/\u{E4}") == nil && key("/a b") == nil && key("/a\r\n") == nil)
        #expect(CacheKey(partition: "r", url: try HTTPURL("HTTP://example.com/a?b#c")) == key("/a?b"))
    }
}
