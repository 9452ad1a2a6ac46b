// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleTesting
import Testing

@Suite struct DigestTests {
    private static let mufasa =
        "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", "
        + "nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", "
        + "opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""

    @Test(arguments: [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ])
    func `the example of RFC 7616 3.9.1 is answered as there`(algorithm: String, response: String) throws {
        let challenge = try digestChallenge("\(Self.mufasa), algorithm=\(algorithm)")
        let request = DigestChallenge.Request(
            method: "GET", target: "/dir/index.html", count: 1,
            clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ")
        let credential = try #require(Credential(checking: "Mufasa", "Circle of Life"))
        #expect(
            try challenge.authorization(of: credential, for: request, hash: digest)
                == "Digest username=\"Mufasa\", realm=\"http-auth@example.org\", "
                + "nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", uri=\"/dir/index.html\", "
                + "response=\"\(response)\", algorithm=\(algorithm), qop=auth, nc=00000001, "
                + "cnonce=\"f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ\", "
                + "opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\"")
    }

    /// The values in the text of the RFC are those of a shortened SHA-512; erratum 4897 has these.
    @Test func `the example of RFC 7616 3.9.2 is answered as its erratum says`() throws {
        let given = try answerParameters(try Self.jason("charset=UTF-8, userhash=true"))
        #expect(given["username"] == "793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b")
        #expect(given["response"] == "3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5")
        #expect(given["userhash"] == "true")
    }

    @Test func `a name beyond ASCII is encoded where the server says that it is modern`() throws {
        let modern = try Self.jason("charset=utf-8")
        #expect(modern.hasPrefix("Digest username*=UTF-8''J%C3%A4s%C3%B8n%20Doe, realm="))
        let old = try Self.jason("userhash=false")
        #expect(old.hasPrefix("Digest username=\"J\u{E4}s\u{F8}n Doe\", realm="))
        #expect(!old.contains("userhash"))
    }

    private static func jason(_ parameters: String) throws -> String {
        let challenge = try digestChallenge(
            "Digest realm=\"api@example.org\", qop=\"auth\", algorithm=SHA-512-256, "
                + "nonce=\"5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK\", "
                + "opaque=\"HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS\", \(parameters)")
        let request = DigestChallenge.Request(
            method: "GET", target: "/doe.json", count: 1, clientNonce: "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v")
        let credential = try #require(Credential(checking: "J\u{E4}s\u{F8}n Doe", "Secret, or not?"))
        return try challenge.authorization(of: credential, for: request, hash: digest)
    }

    /// RFC 2069 §2.4, its response corrected by erratum 749.
    @Test func `without a quality of protection the answer is that of RFC 2069`() throws {
        let challenge = try digestChallenge(
            "Digest realm=\"testrealm@host.com\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\", "
                + "opaque=\"5ccc069c403ebaf9f0171e9517f40e41\"")
        #expect(!challenge.isCounted)
        let request = DigestChallenge.Request(method: "GET", target: "/dir/index.html", count: 1, clientNonce: "unused")
        let credential = try #require(Credential(checking: "Mufasa", "CircleOfLife"))
        #expect(
            try challenge.authorization(of: credential, for: request, hash: digest)
                == "Digest username=\"Mufasa\", realm=\"testrealm@host.com\", "
                + "nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\", uri=\"/dir/index.html\", "
                + "response=\"1949323746fe6a43ef61f9606e7febea\", opaque=\"5ccc069c403ebaf9f0171e9517f40e41\"")
    }

    @Test func `requests are counted with eight digits`() throws {
        let challenge = try digestChallenge("Digest realm=r, nonce=n, qop=auth")
        let request = DigestChallenge.Request(method: "GET", target: "/", count: 0xABC, clientNonce: "c")
        let answer = try challenge.authorization(
            of: #require(Credential(checking: "u", "p")), for: request, hash: digest)
        #expect(answer.contains(", nc=00000abc, "))
    }

    @Test(arguments: [
        "Digest realm=r", "Digest nonce=n", "Digest realm=r, nonce=n, algorithm=SHA-1",
        "Digest realm=r, nonce=n, algorithm=-sess, qop=auth", "Digest realm=r, nonce=n, qop=auth-int",
        "Digest realm=r, nonce=n, qop=\"\"", "Digest realm=r, nonce=n, algorithm=MD5-sess", "Basic realm=r, nonce=n",
        "Digest dG9rZW4=",
    ])
    func `what cannot be answered is no Digest challenge`(value: String) throws {
        let challenge = try #require(AuthenticationChallenge.challenges(in: ["WWW-Authenticate": value]).first)
        #expect(DigestChallenge(challenge) == nil)
    }

    @Test func `a challenge says what it asks for`() throws {
        let challenge = try digestChallenge(
            "digest Realm=r, Nonce=n, Algorithm=\"sha-256-SESS\", QOP=\"AUTH-INT , AUTH\", stale=TRUE, userhash=\"true\""
        )
        #expect(challenge.algorithm == .sha256)
        #expect(challenge.isSession)
        #expect(challenge.isCounted)
        #expect(challenge.isStale)
        #expect(challenge.hashesUser)
        #expect(challenge.opaque == nil)
        #expect(try !digestChallenge("Digest realm=r, nonce=n, stale=false").isStale)
    }

    @Test func `nothing in a challenge gets out of its quotation marks`() throws {
        let realm = "a\\\"\u{301}, uri=\\\"/x\\\\"
        let challenge = try digestChallenge("Digest realm=\"\(realm)\", nonce=n, qop=auth")
        #expect(challenge.realm == "a\"\u{301}, uri=\"/x\\")
        let request = DigestChallenge.Request(method: "GET", target: "/", count: 1, clientNonce: "c\"")
        let answer = try challenge.authorization(
            of: #require(Credential(checking: "u\"\\", "p")), for: request, hash: digest)
        let given = try answerParameters(answer)
        #expect(given["realm"] == challenge.realm)
        #expect(given["uri"] == "/")
        #expect(given["username"] == "u\"\\")
        #expect(given["cnonce"] == "c\"")
    }

    @Test(arguments: [
        "algorithm=MD5, qop=\"auth\"", "qop=\"auth,auth-int\", opaque=\"o p\"", "algorithm=SHA-256, qop=auth",
        "algorithm=MD5-sess, qop=auth", "algorithm=SHA-256-sess, qop=auth", "opaque=x", "algorithm=SHA-256",
        "algorithm=SHA-256, qop=auth, userhash=true",
    ])
    func `curl answers as Pintle does`(parameters: String) throws {
        let credential = try #require(Credential(checking: "Mu \\fasa", "Circle \"of\": Life"))
        let origin = try DigestOrigin(
            challenge: "Digest realm=\"the \\\"realm\\\"\", nonce=\"7ypf/xlj9XXwfDPE\", \(parameters)",
            credential: credential)
        defer { origin.origin.stop() }
        let result = try Curl.run(
            "--digest", "--user", "\(credential.user):\(credential.password)", "--data", "x=1",
            "http://127.0.0.1:\(origin.origin.port)/dir/index.html?a=b&c=%20d")
        #expect(result.status == 200, "\(result) \(origin.origin.requests.map { $0["Authorization"] ?? "none" })")
    }

    @Test func `a wrong password is not what curl would have answered`() throws {
        let origin = try DigestOrigin(
            challenge: "Digest realm=r, nonce=n, qop=auth", credential: #require(Credential(checking: "u", "right")))
        defer { origin.origin.stop() }
        let result = try Curl.run("--digest", "--user", "u:wrong", "http://127.0.0.1:\(origin.origin.port)/")
        #expect(result.status == 403)
    }
}
