// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

@testable import pintle

/// Words and identifiers in paths, and in the keys of documents.
struct SegmentShapeTests {
    @Test(arguments: [
        "users", "v1", "v1beta1", "api", "me", "sign-in", "user_settings", "getUserById", "oauth2", "index.html",
        "utf8",
        "internationalization", "a", "", "search.json", "page-2", "x509", "~alice", "orders:batch", "en-US",
    ])
    func `words stay as they are`(text: String) {
        #expect(SegmentShape.pattern(text[...]) == text)
    }

    @Test(arguments: [
        "1", "2024", "007", "4711", "2024-01-31", "2024-01-31T10:00:00Z", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
        "deadbeefdeadbeef", "3f2a9c81", "cus_N4x9aBcDe", "dQw4w9WgXcQ", "order-12345", "s3cr3tt0ken", "aBxQzRtY",
        "T00000000", "XXXXXXXXXXXXXXXXXXXXXXXX", "eyJhbGciOi.eyJzdWIiOi.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV",
        "joe@example", "caf%C3%A9", "a*b", "a b", "key=value", "jsessionid=1", "grüße", "a;b",
        "lorem-ipsum-dolor-sit-amet-consectetur-adipiscing",
    ])
    func `identifiers and what cannot be written plainly become a star`(text: String) {
        #expect(SegmentShape.pattern(text[...]) == "*")
    }

    @Test(arguments: [
        ("123.json", "*.json"), ("app.3f2a9c81.js", "*.js"), ("a=1.html", "*.html"), ("joe@example.com", "*.com"),
        (".1234", "*"),
    ])
    func `the ending of a file stays`(text: String, pattern: String) {
        #expect(SegmentShape.pattern(text[...]) == pattern)
    }

    @Test func `keys of maps are no names`() {
        for name in ["id", "user_name", "@type", "$ref", "createdAt", "x-total"] { #expect(SegmentShape.isName(name)) }
        for key in ["", "42", "joe@example.com", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "a b", "é", "@"] {
            #expect(!SegmentShape.isName(key), "\(key)")
        }
    }
}
