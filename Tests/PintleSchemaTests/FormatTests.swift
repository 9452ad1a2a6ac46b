// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import Testing

@testable import PintleSchema

@Suite struct FormatTests {
    @Test(arguments: [
        (Format.dateTime, ["2026-11-22T00:30:00Z", "2024-02-29t23:59:60z", "1998-12-31T15:59:60.123-08:00"]),
        (.date, ["2000-02-29", "2026-12-31"]), (.time, ["08:30:06.283185Z", "23:59:59+23:59"]),
        (.email, ["joe.bloggs@example.com", "\"joe bloggs\"@example.com", "a+b@[127.0.0.1]", "a@[IPv6:::1]"]),
        (.hostname, ["localhost", "www.example.com", "a-1.b"]), (.ipv4, ["192.168.0.1"]),
        (.ipv6, ["::1", "::ffff:1.2.3.4"]),
        (.uri, ["https://u@[::1]:8080/a%20b?q=1#f", "urn:oasis:names", "mailto:a@b.example", "http://"]),
        (.uriReference, ["/a/b", "../x?y#z", "", "#f", "//host/p", "./a:b"]),
        (.uuid, ["2EB8AA08-aa98-11ea-b4aa-73b441d16380"]), (.jsonPointer, ["", "/a~0b~1c/0", "/"]),
        (.regex, ["^a+$", ""]),
    ])
    func `what has the format is taken`(_ format: Format, _ texts: [String]) {
        for text in texts { #expect(format.accepts(text), "\(text)") }
    }

    /// `String` compares runs of combining marks in quadratic time: a mebibyte of them would take minutes.
    @Test func `a mebibyte of combining marks has no format, at once`() {
        let marks = String(repeating: "\u{301}\u{316}", count: 1 << 18)
        for format in [Format.email, .hostname, .ipv4, .ipv6, .uri, .dateTime, .uuid, .jsonPointer] {
            for text in [marks, "a@[\(marks)]", "a@[IPv6:\(marks)]", "a:\(marks)"] {
                #expect(!format.accepts(text))
            }
        }
    }

    @Test(arguments: [
        (
            Format.dateTime,
            [
                "2026-11-22", "2026-11-22 00:30:00Z", "2026-11-22T00:30:00", "1998-12-31T23:58:60Z",
                "2026-11-22T24:00:00Z",
            ]
        ),
        (.date, ["2026-02-29", "2026-13-01", "26-1-1", "2026-11-2২", "2026-00-10"]),
        (.time, ["12:00", "12:00:00.Z", "12:00:61Z", "12:00:00+24:00", "12:00:00Z "]),
        (.email, ["a", "@b", "a@", ".a@b", "a..b@c", "a b@c", "a@-b", "a@[127.0.0]"]),
        (.hostname, ["", "-a", "a-", "a..b", "a_b", "é.example", String(repeating: "a", count: 64)]),
        (.ipv4, ["1.2.3", "256.1.1.1", "01.2.3.4", "1.2.3.4\0"]), (.ipv6, ["::1%eth0", "1::2::3", "12345::"]),
        (.uri, ["/a", "http://a b", "http://[::1", "http://a:b", "1a:b", "a:%zz", "http://é"]),
        (.uriReference, ["a b", "a:b c", "1:b", "%1", "\\a"]),
        (.uuid, ["2eb8aa08aa9811eab4aa73b441d16380", "2eb8aa08-aa98-11ea-b4aa-73b441d1638g"]),
        (.jsonPointer, ["a", "/~2", "/~"]), (.regex, ["(", #"\a"#]),
    ])
    func `what does not have the format is not`(_ format: Format, _ texts: [String]) {
        for text in texts { #expect(!format.accepts(text), "\(text)") }
    }

    @Test func `formats are asserted only where that is asked for`() throws {
        let text = #"{"properties":{"a":{"format":"ipv4"},"b":{"format":"x-mine"}}}"#
        let instance = try json(#"{"a":"x","b":"y"}"#)
        #expect(try schema(text).violations(of: instance) == [])
        #expect(
            try schema(text, options: SchemaOptions(assertsFormats: true)).violations(of: instance)
                == ["at /a: must have the format ipv4, is “x”"])
    }
}
