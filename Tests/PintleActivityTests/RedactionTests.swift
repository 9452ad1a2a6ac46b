// SPDX-License-Identifier: Apache-2.0

import PintleActivity
import Testing

@Suite struct RedactionTests {
    @Test(arguments: [
        ("http://h/p", "http://h/p"),
        ("http://h/p?a=1&b", "http://h/p?a=***&***"),
        ("http://h/?a=1&b=2&a=3", "http://h/?a=***&b=***&a=***"),
        ("http://h/?a=", "http://h/?a=***"),
        ("http://h/?", "http://h/?"),
        ("http://h/?&&", "http://h/?&&"),
        ("http://h/?a=b=c", "http://h/?a=***"),
        ("http://h/?a=1;b=2", "http://h/?a=***"),
        ("http://h/?a=1?b=2", "http://h/?a=***"),
        ("http://h/?u=x@y", "http://h/?u=***"),
        ("http://h/#token=s", "http://h/#***"),
        ("http://h/?a=1#f?b=2", "http://h/?a=***#***"),
        ("http://h/#", "http://h/#"),
        ("http://user:pass@h:80/p", "http://h:80/p"),
        ("http://user@h", "http://h"),
        ("http://a@b:c@h/p@q", "http://h/p@q"),
        ("http://u:p@h?a=1", "http://h?a=***"),
        ("http://u:p@[::1]:80/", "http://[::1]:80/"),
        ("//u:p@h/x", "//h/x"),
        ("u:p@h:443", "h:443"),
        ("h:443", "h:443"),
        ("/@me?x=1", "/@me?x=***"),
        ("*", "*"),
        ("", ""),
        ("http://h/ü?k=ü&ü", "http://h/ü?k=***&***"),
    ])
    func `a URL loses its user and the values of its query`(url: String, redacted: String) {
        #expect(Redaction.on.url(url) == redacted)
        #expect(Redaction.off.url(url) == url)
    }

    @Test(arguments: [
        ("Authorization", "Basic dTpw", "***"),
        ("proxy-authorization", "Bearer t", "***"),
        ("COOKIE", "a=1", "***"),
        ("Set-Cookie", "a=1; Path=/", "***"),
        ("Cookies", "a=1", "a=1"),
        ("Referer", "http://u:p@h/?a=1", "http://h/?a=***"),
        ("Location", "/next?code=7", "/next?code=***"),
        ("Accept", "text/html;q=1", "text/html;q=1"),
    ])
    func `a credential field never shows its value`(name: String, value: String, shown: String) {
        #expect(Redaction.on.field(name: name, value: value) == shown)
        #expect(Redaction.off.field(name: name, value: value) == value)
    }

    @Test func `an injected field is taken for a secret`() {
        #expect(Redaction.on.field(name: "X-Api-Key", value: "k", isInjected: true) == "***")
        #expect(Redaction.off.field(name: "X-Api-Key", value: "k", isInjected: true) == "k")
    }

    @Test func `URLs within an error are redacted`() {
        let text = "cannot reach http://u:p@h/?k=s at 12:30, user a@b"
        #expect(Redaction.on.text(text) == "cannot reach http://h/?k=*** at 12:30, user a@b")
        #expect(Redaction.off.text(text) == text)
    }

    @Test(arguments: [
        ("http://h/?eyJhbGciOi.eyJzdWIi.TOKEN", "http://h/?***"), ("/p?token&a=1&&b", "/p?***&a=***&&***"),
        ("/?c2VjcmV0LXRva2VuLWFuZC1tb3Jl==", "/?***"), ("/?c2VjcmV0LXRva2VuLWFuZC1tb3Jl=&a=", "/?***&a=***"),
        ("/?c2VjcmV0LXRva2VuLWFuZC1tb3Jl=x", "/?c2VjcmV0LXRva2VuLWFuZC1tb3Jl=***"),
    ])
    func `LOOK-53 what stands in a query without a name is a value`(url: String, redacted: String) {
        #expect(Redaction.on.url(url) == redacted)
    }
}
