// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleMessage
import PintlePolicy
import PintleTesting
import Testing

/// Paths that servers read in different ways, and which route they are of.
struct PathReadingTests {
    @Test(arguments: [
        ("/a/b", ["/a/b"]), ("/a/../b?x=//;%2f", ["/b"]), ("/%61", ["/%61"]), ("*", ["*"]),
        ("//admin", ["//admin", "/admin"]), ("/admin;x", ["/admin;x", "/admin"]), ("/a;x=1/b", ["/a;x=1/b", "/a/b"]),
        ("/admin%2fx", ["/admin%2Fx", "/admin/x"]), ("/admin%5Cx", ["/admin%5Cx", "/admin/x"]),
        ("/admin\\x", ["/admin\\x", "/admin/x"]), ("/a%3bx", ["/a%3Bx", "/a"]), ("/a%3fx", ["/a%3Fx", "/a"]),
        ("/a%252fb", ["/a%252Fb", "/a%2Fb", "/a/b"]), ("/%2561dmin", ["/%2561dmin", "/%61dmin"]),
        ("/%2f/admin", ["/%2F/admin", "///admin", "/admin"]),
    ])
    func `LOOK-18 a path has these readings`(path: String, readings: [String]) throws {
        let all = try PathReadings(path).all.map { String(decoding: $0, as: UTF8.self) }
        #expect(all.first == readings.first)
        #expect(Set(all) == Set(readings))
    }

    @Test(arguments: [
        "/public/%5c../admin", "/public/%5c..%5cadmin", "/public;x/../admin", "/public/..;/admin", "/public/..%2fadmin",
        "/public//../admin", "/public\\..\\admin", "/public/%252e%252e/admin", "/public/%2e%2e%2fadmin", "/.;/a",
        "/public/..%3f", "/a%00b",
    ])
    func `LOOK-18 dot segments among what is read differently are refused`(path: String) throws {
        #expect(throws: Malformed.self) { try PathReadings(path) }
        let guarded = try policy("routes: [{name: admin, match: {paths: [\"/admin/**\"]}}]")
        #expect(throws: Malformed.self) { try guarded.decide(try query("GET", "http://a.example\(path)")) }
        // If no rule matches paths, the proxy does not restrict them.
        let open = try policy("routes: [{name: all}]")
        #expect(try open.decide(try query("GET", "http://a.example\(path)")).path == path)
        let elsewhere = try policy("routes: [{name: admin, match: {hosts: [b.example], paths: [\"/admin/**\"]}}]")
        #expect(try elsewhere.decide(try query("GET", "http://a.example\(path)")).route == nil)
    }

    @Test func `LOOK-18 an ambiguous path has a bounded length`() throws {
        let long = String(repeating: "a", count: PathReadings.longestAmbiguous)
        #expect(throws: Malformed.self) { try PathReadings("//" + long) }
        #expect(try PathReadings("/" + long).all.count == 1)
        #expect(try PathReadings("//" + long.dropLast(2)).all.count == 2)
        let every = "//%2f\\;%3f%252f"
        #expect(try PathReadings(every).all.count <= 64)
    }

    @Test(arguments: [
        "/admin/x", "//admin/x", "/admin//x", "/admin;a/x", "/;a/admin/x", "/admin%2fx", "/%2fadmin/x", "/admin%5cx",
        "\\admin\\x",
        "/%5Cadmin/x", "/%61dmin/x", "/%2561dmin/x", "/admin%252fx", "/admin;%2f/x", "/admin%3bx/y",
        "/%41dmin/../admin/x",
    ])
    func `LOOK-18 a rule for a subtree is not got around`(path: String) throws {
        let path = path.hasPrefix("/") ? path : "/" + path
        let alone = try policy("routes: [{name: admin, match: {paths: [\"/admin/**\"]}}]")
        #expect(try alone.decide(try query("GET", "http://a.example\(path)")).route?.name == "admin")
        let beside = try policy("routes: [{name: admin, match: {paths: [\"/admin/**\"]}}, {name: rest}]")
        let route = Result { try beside.decide(try query("GET", "http://a.example\(path)")).route?.name }
        switch route {
        case .success(let name): #expect(name == "admin")
        case .failure(let error): #expect(error is Malformed)
        }
    }

    @Test(arguments: [
        ("/@x/**", "/%40x/1"), ("/a+b", "/a%2bb"), ("/%C3%A9/**", "/%c3%a9/1"), ("/%c3%a9/**", "/%C3%A9/1"),
        ("/a%2Fb", "/a%2fb"),
    ])
    func `LOOK-18 what is encoded is what it stands for`(pattern: String, path: String) throws {
        #expect(try PathPattern(pattern).matches(path))
    }

    @Test func `LOOK-18 readings that lead to two routes are refused with both names`() throws {
        let policy = try policy(
            "routes: [{name: images, match: {paths: [\"/**.png\"]}}, {name: admin, match: {paths: [\"/admin\"]}}]")
        let expected = Malformed(
            "servers read the path differently, and it is one of routes[0] \"images\" or of routes[1] \"admin\"")
        #expect(throws: expected) { try policy.decide(try query("GET", "http://a.example/admin;x.png")) }
    }

    @Test func `LOOK-18 what goes to an upstream is what was matched`() throws {
        let policy = try policy(
            """
            routes:
              - {name: pay, match: {hosts: [g.example], paths: ["/pay/**"]}, upstream: "http://u.example/v1/", strip_prefix: /pay}
            """)
        func path(_ text: String) throws -> String {
            try policy.decide(try query("GET", "http://g.example\(text)")).path
        }
        #expect(try path("/pay/x") == "/v1/x")
        #expect(try path("/%70ay/x") == "/v1/x")
        #expect(try path("/pay/x//y") == "/v1/x//y")
        #expect(try path("/pay/x;y=1?z") == "/v1/x;y=1?z")
        for text in ["//pay/x", "/pay;a/x", "/pay%2fx", "/pay/..;/admin", "/pay/..%3bx/admin", "/pay/%252e%252e/x"] {
            #expect(throws: Malformed.self) { try path(text) }
        }
    }

    // MARK: By chance

    private static let pieces = [
        "/", "/", "/", "//", "\\", "%2f", "%2F", "%5c", ";", ";x", "%3b", "%3F", "%23", "%252f", "%255c", "%253b",
        "%253f", "%2561",
        "a", "b", "%61", "admin", "%41", "%", "%2", "%25", "%zz", "-",
    ]

    /// The readings by another road: rewriting of text, step by step.
    private static func independent(_ path: String) -> Set<String> {
        var readings: Set<String> = []
        func replace(_ text: String, _ pattern: String, _ with: String) -> String {
            text.replacingOccurrences(of: pattern, with: with, options: [.regularExpression, .caseInsensitive])
        }
        for bits in 0..<64 {
            func isSet(_ bit: Int) -> Bool { bits >> bit & 1 == 1 }
            // A percent sign that is encoded twice is either hidden from the other steps, or decoded once. A private
            // character stands for a hidden percent sign.
            var text =
                isSet(0)
                ? replace(path, "%25(?=[0-9a-f]{2})", "\u{E001}") : replace(path, "%25(?=[0-9a-f]{2})", "\u{E000}")
            text = text.replacingOccurrences(of: "\u{E001}", with: "%")
            if isSet(1) { text = replace(text, "%2f", "/") }
            if isSet(2) { text = replace(text, "%5c|\\\\", "/") }
            if isSet(3) { text = replace(text, "(%3f|%23).*$", "") }
            // A segment loses its parameters, up to the next separator of this reading.
            if isSet(4) { text = replace(text, "(;|%3b)[^/]*", "") }
            if isSet(5) { text = replace(text, "/+", "/") }
            readings.insert(Self.normal(text.replacingOccurrences(of: "\u{E000}", with: "%25")))
        }
        return readings
    }

    /// Upper-case digits, and no escapes of characters that mean nothing in a path.
    private static func normal(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        while let first = rest.first {
            let digits = rest.dropFirst().prefix(2)
            let inner = rest.dropFirst(3).prefix(2)
            if first == "%", digits == "25", inner.count == 2, inner.allSatisfy(\.isHexDigit) {
                result += "%25" + inner.uppercased()
                rest = rest.dropFirst(5)
            } else if first == "%", digits.count == 2, let byte = UInt8(digits, radix: 16), !digits.hasPrefix("+"),
                !digits.hasPrefix("-")
            {
                let scalar = Character(UnicodeScalar(byte))
                result += (scalar.isLetter && byte < 128) ? String(scalar) : "%" + digits.uppercased()
                rest = rest.dropFirst(3)
            } else {
                result.append(first)
                rest = rest.dropFirst()
            }
        }
        return result
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
    func `LOOK-18 the readings are those of an independent definition`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<60 {
            let count = Int.random(in: 1...9, using: &random)
            let path = "/" + (0..<count).map { _ in Self.pieces.randomElement(using: &random) ?? "" }.joined()
            let found = Set(try PathReadings(path).all.map { Self.normal(String(decoding: $0, as: UTF8.self)) })
            #expect(found == Self.independent(path), "seed \(seed): \(path)")
        }
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `LOOK-18 whatever a server reads, the strict route holds or nothing is sent`(seed: UInt64) throws {
        let patterns = ["/admin", "/admin/**", "/a/*", "/**/admin", "/a/**/b"]
        var random = SeededGenerator(seed: seed)
        for pattern in patterns {
            let strict = try PathPattern(pattern)
            let policy = try policy("routes: [{name: strict, match: {paths: [\"\(pattern)\"]}}, {name: rest}]")
            for _ in 0..<30 {
                let count = Int.random(in: 1...7, using: &random)
                let path = "/" + (0..<count).map { _ in Self.pieces.randomElement(using: &random) ?? "" }.joined()
                let isStrict = Self.independent(path).contains { strict.matches($0) }
                do {
                    let route = try policy.decide(try query("GET", "http://a.example\(path)")).route
                    #expect(route?.name == (isStrict ? "strict" : "rest"), "seed \(seed): \(pattern) \(path)")
                } catch is Malformed {
                    #expect(isStrict, "seed \(seed): \(pattern) \(path) is refused for nothing")
                }
            }
        }
    }
}
