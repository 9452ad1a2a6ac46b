// SPDX-License-Identifier: Apache-2.0

import PintleCache
import Testing

/// Removals as people name them, and the URLs of keys.
struct CacheSelectionTests {
    @Test(
        arguments: [
            ("http://A.Test", "http://a.test/"), ("HTTP://a.test:80/x", "http://a.test/x"),
            ("https://a.test:443/X?y#z", "https://a.test/X?y"), ("http://a.test:81/", "http://a.test:81/"),
        ])
    func `a URL takes the form of keys`(written: String, key: String) {
        #expect(CacheSelection(url: written) == .url(key))
    }

    @Test(arguments: ["", "a.test", "ftp://a.test/", "http://"])
    func `what is no URL selects nothing`(text: String) { #expect(CacheSelection(url: text) == nil) }

    @Test(
        arguments: [
            ("http://A.Test/", "http://a.test/"), ("HTTP://A.test:80/X/y", "http://a.test/X/y"),
            ("https://a.test:443/%41", "https://a.test/%41"), ("http://A.te", "http://a.te"), ("HTTPS:", "https:"),
            ("http://a.test:8080/b//c", "http://a.test:8080/b//c"), ("http://[/A", "http://[/A"), ("", ""),
        ])
    func `the beginning of URLs takes their form, and keeps the rest`(written: String, beginning: String) {
        #expect(CacheSelection(prefix: written) == .prefix(beginning))
    }
}
