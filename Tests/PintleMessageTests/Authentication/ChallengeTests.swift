// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleTesting
import Testing

@Suite struct ChallengeTests {
    @Test(arguments: [
        ("Basic", [AuthenticationChallenge(scheme: "basic")]),
        ("basic realm=\"a b\"", [AuthenticationChallenge(scheme: "basic", parameters: ["realm": "a b"])]),
        ("Basic realm=plain", [AuthenticationChallenge(scheme: "basic", parameters: ["realm": "plain"])]),
        (
            "Basic REALM = \"x\" , Charset=\"UTF-8\"",
            [
                AuthenticationChallenge(scheme: "basic", parameters: ["realm": "x", "charset": "UTF-8"])
            ]
        ),
        (
            "Basic realm=\"a\\\"b\\\\c,d=\\e\"",
            [
                AuthenticationChallenge(scheme: "basic", parameters: ["realm": "a\"b\\c,d=e"])
            ]
        ),
        ("Basic realm=\"\"", [AuthenticationChallenge(scheme: "basic", parameters: ["realm": ""])]),
        ("Negotiate dG9rZW4=", [AuthenticationChallenge(scheme: "negotiate", token68: "dG9rZW4=")]),
        ("Negotiate a-._~+/1==", [AuthenticationChallenge(scheme: "negotiate", token68: "a-._~+/1==")]),
        ("New a=", [AuthenticationChallenge(scheme: "new", token68: "a=")]),
        (
            "Negotiate, Basic realm=\"x\", Other abc , ,Last k=v",
            [
                AuthenticationChallenge(scheme: "negotiate"),
                AuthenticationChallenge(scheme: "basic", parameters: ["realm": "x"]),
                AuthenticationChallenge(scheme: "other", token68: "abc"),
                AuthenticationChallenge(scheme: "last", parameters: ["k": "v"]),
            ]
        ),
        (
            " , ,Newauth realm=\"apps\", type=1,\ttitle=\"Login to \\\"apps\\\"\", Basic realm=\"simple\"",
            [
                AuthenticationChallenge(
                    scheme: "newauth", parameters: ["realm": "apps", "type": "1", "title": "Login to \"apps\""]),
                AuthenticationChallenge(scheme: "basic", parameters: ["realm": "simple"]),
            ]
        ),
        (
            "Basic realm=\"J\u{E4}s\u{F8}n\"",
            [
                AuthenticationChallenge(scheme: "basic", parameters: ["realm": "J\u{E4}s\u{F8}n"])
            ]
        ),
    ])
    func `challenges are read as they are offered`(value: String, challenges: [AuthenticationChallenge]) {
        #expect(AuthenticationChallenge.challenges(in: ["WWW-Authenticate": value]) == challenges)
    }

    @Test(arguments: [
        "", ",", "=", "\"Basic\"", "Basic realm=\"open", "Basic realm=\"open\\", "Basic realm=\"x\" charset=\"y\"",
        "Basic realm=", "Basic realm=,", "Basic realm=\"a\", realm=\"b\"", "Basic ==", "Basic =x", "Basic\trealm=x",
        "Basic realm=\"a\"b", "Basic a b", "Basic realm=a/b",
    ])
    func `what the grammar does not allow is left out`(value: String) {
        // A token68 may look like a parameter without a value.
        let expected = ["Basic realm=", "Basic realm=,"].contains(value) ? ["realm="] : []
        let challenges = AuthenticationChallenge.challenges(in: ["WWW-Authenticate": value])
        #expect(challenges.map(\.token68) == expected)
    }

    @Test func `a mistake ends its line and no other`() {
        let fields: Fields = [
            "WWW-Authenticate": "Negotiate, Digest realm=\"x, Basic realm=y", "www-authenticate": "Basic realm=\"z\"",
        ]
        let challenges = AuthenticationChallenge.challenges(in: fields)
        #expect(challenges.map(\.scheme) == ["negotiate", "basic"])
        #expect(challenges.map(\.realm) == [nil, "z"])
    }

    @Test func `a proxy's challenges are its own`() {
        let fields: Fields = ["Proxy-Authenticate": "Basic realm=p", "WWW-Authenticate": "Basic realm=o"]
        #expect(AuthenticationChallenge.challenges(in: fields, isProxy: true).map(\.realm) == ["p"])
        #expect(AuthenticationChallenge.challenges(in: fields).map(\.realm) == ["o"])
    }

    @Test func `the number of challenges is bounded`() {
        let many = Array(repeating: "A", count: 30).joined(separator: ",")
        let fields: Fields = ["WWW-Authenticate": many, "www-authenticate": many]
        #expect(AuthenticationChallenge.challenges(in: fields).count == 32)
    }

    @Test func `every line is read to its end without a trap`() {
        var random = SeededGenerator(seed: 68)
        let alphabet = Array("aB=\",\\ \t/;~é".utf8)
        for _ in 0..<5_000 {
            let bytes = (0..<Int.random(in: 0...24, using: &random)).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
            }
            let value = String(decoding: bytes, as: UTF8.self)
            let challenges = AuthenticationChallenge.challenges(in: ["WWW-Authenticate": value])
            #expect(challenges.allSatisfy { !$0.scheme.isEmpty && ($0.token68 == nil || $0.parameters.isEmpty) })
        }
    }

    @Test(arguments: [
        (["Basic realm=b", "Digest realm=m, nonce=n", "Digest realm=s, nonce=n, algorithm=SHA-256"], "s"),
        (["Digest realm=m, nonce=n, algorithm=MD5, Basic realm=b"], "m"),
        (["Negotiate", "Basic realm=b"], "b"),
        (["Digest realm=x, nonce=n, algorithm=SHA-1", "Basic realm=b"], "b"),
        (["Digest realm=x, nonce=n, qop=\"auth-int\", algorithm=SHA-256", "Basic realm=b"], "b"),
        (
            [
                "Digest realm=first, nonce=n, algorithm=SHA-512-256, Digest realm=second, nonce=n, algorithm=SHA-256"
            ], "first"
        ),
        (["Basic realm=first", "Basic realm=second"], "first"),
        (["Negotiate", "NTLM"], nil),
        (["Basic dG9rZW4="], nil),
        ([], nil),
    ])
    func `the strongest challenge that can be answered is chosen`(values: [String], realm: String?) {
        var fields = Fields()
        for value in values { fields.append("WWW-Authenticate", value) }
        let method = AuthenticationMethod.strongest(of: AuthenticationChallenge.challenges(in: fields))
        #expect(method?.realm == realm)
    }
}
