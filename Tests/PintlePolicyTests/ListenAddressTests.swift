// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PintlePolicy

/// Addresses on which clients are served, in the syntax of `listen` and `--listen`.
struct ListenAddressTests {
    @Test(arguments: [
        "127.0.0.1:3128", "[::1]:0", "https://192.0.2.1:443", "https://[2001:db8::1]:8443", "unix:/run/p.sock",
        "capture://127.0.0.1:3130", "capture://[::]:3130",
    ])
    func `a place is written as it was read`(text: String) throws {
        let place = try ListenAddress(text)
        #expect(place.description == text)
        #expect(place.isTLS == text.hasPrefix("https://"))
        #expect((place.use == .capture) == text.hasPrefix("capture://"))
    }

    @Test(arguments: [
        "https://localhost:443", "https://127.0.0.1", "https://127.0.0.1:443/", "http://127.0.0.1:80",
        "HTTPS://127.0.0.1:1",
        "unix:", "unix:@abstract", "unix:/run/", "unix://\u{0}", "unix:/" + String(repeating: "a", count: 107),
    ])
    func `what is no place is refused`(text: String) {
        #expect(throws: Malformed.self) { _ = try ListenAddress(text) }
    }

    @Test(arguments: ["http://127.0.0.1:80", "ftp://x:1", "HTTPS://127.0.0.1:1"])
    func `a scheme that there is not is answered with those that there are`(text: String) {
        do throws(Malformed) {
            Issue.record("\(try ListenAddress(text))")
        } catch {
            #expect(error.reason.contains("https://ADDRESS:PORT for TLS, capture://ADDRESS:PORT"))
        }
    }

    @Test func `the longest path fits, and relative ones are the file's`() throws {
        let path = "/" + String(repeating: "a", count: 106)
        #expect(try ListenAddress("unix:\(path)").place == .unix(path))
        #expect(try ListenAddress("unix:p.sock") { "/etc/\($0)" }.place == .unix("/etc/p.sock"))
    }

    @Test func `one place is listened on once, with TLS or without`() {
        let lists = [
            "[\"127.0.0.1:1\", \"127.0.0.1:1\"]": "127.0.0.1:1 is listed twice",
            "[\"unix:/p\", \"unix:/p\"]": "unix:/p is listed twice",
            "[\"127.0.0.1:1\", \"https://127.0.0.1:1\"]": "https://127.0.0.1:1 is taken by 127.0.0.1:1",
        ]
        for (list, message) in lists {
            let found = problems("version: 1\nlisten: \(list)\nlisten_tls: {certificate: p.pem}")
            #expect(found.count == 1 && found[0].hasSuffix("listen[1]: \(message)"), "\(found)")
        }
        #expect(problems("version: 1\nlisten: [\"127.0.0.1:0\", \"127.0.0.1:0\"]").isEmpty)
    }

    @Test func `clients that are captured show no password, and know no name of the proxy`() throws {
        let yaml = "listen: [\"127.0.0.1:1\", \"capture://192.0.2.1:2\"]"
        #expect(try policy(yaml).ownNames.all == ["127.0.0.1", "::1", "localhost"])
        let found = problems("version: 1\n\(yaml)\nclients: {basic_auth: {users: none}}")
        let words = "clients of capture://192.0.2.1:2 do not know of the proxy, and show it no password"
        #expect(found.contains { $0.hasSuffix(words) }, "\(found)")
    }

    @Test func `a Unix socket is as far from other machines as loopback is`() throws {
        #expect(try policy("listen: [\"unix:/run/p.sock\"]").connectPorts.allows(25))
        let mixed = try policy("listen: [\"unix:/run/p.sock\", \"192.0.2.1:3128\"]").connectPorts
        #expect(!mixed.allows(25) && mixed.description.contains("because 192.0.2.1:3128 is not loopback"))
    }
}
