// SPDX-License-Identifier: Apache-2.0

import PintlePolicy
import Testing

/// `clients.basic_auth`: the file of users, and who is one of them.
struct BasicAuthTests {
    private static let yaml = "version: 1\nclients: {basic_auth: {realm: the office, users: users.htpasswd}}"
    private static let ana = "ana:$2y$04$abcdefghijklmnopqrstuuWXKr2BvN6MFBGmbO8G1GNLW0JIJkxnC"
    private static let ben = "ben:$2b$04$ABCDEFGHIJKLMNOPQRSTUubdTkc8VfDg3xLFFedNQLivmNw6I3T6K"
    private static let old = "old:$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"

    private func problems(_ users: String) -> [String] {
        PintlePolicyTests.problems(Self.yaml, surroundings(files: ["users.htpasswd": users]))
    }

    @Test func `the three spellings of bcrypt are read, and their passwords known`() throws {
        let text = "# people\n\n\(Self.ana)\r\n\(Self.ben)\n  \n\(Self.old)"
        let configuration = try load(Self.yaml, surroundings(files: ["users.htpasswd": text]))
        let auth = try #require(configuration.clients.basicAuth)
        #expect(auth.realm == "the office" && auth.users.count == 3)
        for (user, password, isKnown) in [
            ("ana", "pass:wörd", true), ("ben", "other", true), ("old", "U*U", true), ("ana", "other", false),
            ("ana", "", false), ("ANA", "pass:wörd", false), ("nobody", "other", false), ("", "", false),
            ("ben", "other\0", false), ("ben", "other\0x", false), ("ben", "othe", false), ("# people", "", false),
        ] {
            #expect(auth.users.has(user: user, password: Array(password.utf8)) == isKnown, "\(user) \(password)")
        }
    }

    @Test(arguments: ["ren\u{E9}", "rene\u{301}"])
    func `a user has the name that the file spells, however a client composes its letters`(spelled: String) throws {
        let text = Self.ben.replacing("ben:", with: "\(spelled):")
        let configuration = try load(Self.yaml, surroundings(files: ["users.htpasswd": text]))
        let users = try #require(configuration.clients.basicAuth?.users)
        for given in ["ren\u{E9}", "rene\u{301}"] {
            for name in [given, "\(given)+ci"] {
                let user = try #require(users.identity(named: name).user)
                #expect(user.utf8.elementsEqual(spelled.utf8), "\(name)")
            }
            #expect(users.has(user: given, password: Array("other".utf8)))
        }
    }

    @Test func `what is no user is refused, with its line and without its hash`() {
        let place = "pintle.yaml:2:50: clients.basic_auth.users: users.htpasswd"
        let lines = [
            Self.ana, "eve:$apr1$x$y", "mallory:secret", "nocolon", ":\(Self.ben.dropFirst(4))", Self.ana,
            "{SHA}:{SHA}x", "slow:$2b$18$ABCDEFGHIJKLMNOPQRSTUubdTkc8VfDg3xLFFedNQLivmNw6I3T6K",
            "fast:$2b$03$ABCDEFGHIJKLMNOPQRSTUubdTkc8VfDg3xLFFedNQLivmNw6I3T6K",
            "cut:$2b$04$ABCDEFGHIJKLMNOPQRSTU", "odd:$2b$04$ABCDEFGHIJKLMNOPQRSTUubdTkc8VfDg3xLFFedNQLivmNw6I3T6:",
        ]
        let form = "must be a user's name, a colon and a bcrypt hash"
        func foreign(_ name: String) -> String {
            "the hash of \"\(name)\" is not bcrypt; make it with: htpasswd -B"
        }
        let expected = [
            (2, foreign("eve")), (3, foreign("mallory")), (4, form), (5, form), (6, "the user \"ana\" is there twice"),
            (7, foreign("{SHA}")), (8, "the hash of \"slow\" has cost 18; costs are from 4 to 17"),
            (9, "the hash of \"fast\" has cost 3; costs are from 4 to 17"), (10, foreign("cut")), (11, foreign("odd")),
        ]
        #expect(self.problems(lines.joined(separator: "\n")) == expected.map { "\(place), line \($0): \($1)" })
    }

    @Test func `a file without users, or none at all, is refused`() {
        #expect(
            self.problems("# nobody\n") == [
                "pintle.yaml:2:50: clients.basic_auth.users: the file users.htpasswd has no users; add one with: htpasswd -B"
            ])
        #expect(
            PintlePolicyTests.problems(Self.yaml) == [
                "pintle.yaml:2:50: clients.basic_auth.users: there is no file users.htpasswd"
            ])
        #expect(
            PintlePolicyTests.problems("version: 1\nclients: {basic_auth: {realm: a}}") == [
                "pintle.yaml:2:23: clients.basic_auth: the key \"users\" is missing: the file of their names and bcrypt hashes, "
                    + "as htpasswd -B writes it"
            ])
    }

    @Test(arguments: ["'a\"b'", "'a\\b'", "ä", "''"])
    func `a realm is text that needs no quoting`(realm: String) {
        let yaml = "version: 1\nclients: {basic_auth: {realm: \(realm), users: u}}"
        let found = PintlePolicyTests.problems(yaml, surroundings(files: ["u": Self.ana]))
        #expect(found.count == 1 && found[0].contains("printable ASCII characters without quotes"), "\(found)")
    }
}
