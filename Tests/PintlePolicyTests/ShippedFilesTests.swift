// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleMessage
import PintlePolicy
import Testing

struct ShippedFilesTests {
    private static let system = LoaderEnvironment.system(environment: [:])

    @Test func `the documented default is the embedded default`() throws {
        let path = Repository.path("conf/pintle.yaml")
        #expect(try PolicyLoader.configuration(path: path, surroundings: Self.system) == Configuration())
    }

    @Test(arguments: ["dev-gateway.yaml", "pinned-api.yaml", "api-contract.yaml", "teams.yaml"])
    func `the examples load without a warning`(name: String) throws {
        let path = Repository.path("conf/examples/" + name)
        let (policy, origin) = try PolicyLoader.load(flag: path, surroundings: Self.system)
        #expect(origin == .flag(path))
        let warnings = Lint(policy).findings.filter { $0.severity == .warning }
        #expect(warnings.allSatisfy { $0.message.hasPrefix("only reports") }, "\(warnings)")
    }

    @Test(arguments: [
        ("GET", "http://localhost:8080/api/users?id=1", "api", "http://127.0.0.1:9001/users?id=1"),
        ("GET", "http://localhost:8080/live/a", "live", "http://127.0.0.1:9003/live/a"),
        ("GET", "http://localhost:8080/assets/app.js", "assets", "http://127.0.0.1:9002/dist/assets/app.js"),
        ("POST", "http://localhost:8080/assets/app.js", "pages", "http://127.0.0.1:9000/assets/app.js"),
        ("GET", "http://localhost:8080/", "pages", "http://127.0.0.1:9000/"),
    ])
    func `the gateway example sends requests where it says`(
        method: String, url: String, route: String, target: String
    ) throws {
        let path = Repository.path("conf/examples/dev-gateway.yaml")
        let (policy, _) = try PolicyLoader.load(flag: path, surroundings: Self.system)
        let decision = try policy.decide(try query(method, url, form: .gateway))
        #expect(decision.route?.name == route)
        #expect("\(decision.scheme)://\(decision.authority)\(decision.path)" == target)
        #expect(decision.destination == .allowed(by: "destinations.allow[0] \"127.0.0.0/8\""))
    }

    @Test(
        arguments: [
            ("https://shop.example/", [:], "shop", false), ("https://calls.example/", [:], "calls", false),
            ("https://a.search.example/", [:], "search", false),
            ("https://shop.example/", ["X-Env": "test-7"], "tests", false),
            ("https://elsewhere.example/", [:], nil, true),
        ] as [(String, Fields, String?, Bool)])
    func `the example of teams has the routes of all files`(
        url: String, fields: Fields, route: String?, isReported: Bool
    ) throws {
        let path = Repository.path("conf/examples/teams.yaml")
        let (policy, _) = try PolicyLoader.load(flag: path, surroundings: Self.system)
        #expect(
            policy.configuration.includedFiles.map { $0.split(separator: "/").last } == ["search.yaml", "shop.yaml"])
        var asked = try query("GET", url)
        asked.headers = fields
        let decision = try policy.decide(asked)
        #expect(decision.route?.name == route && (decision.reportedRule != nil) == isReported)
        #expect(try policy.decide(try query("GET", "http://x.ads.example/")).destination.denial != nil)
    }

    @Test func `editors find the schema of every shipped configuration`() throws {
        let examples = Self.system.matches(Repository.path("conf/examples/*.yaml")).filter {
            !$0.hasSuffix("openapi.yaml")
        }
        #expect(examples.count >= 5)
        for path in examples + [Repository.path("conf/pintle.yaml")] {
            let text = String(decoding: try Self.system.read(path, 1 << 20), as: UTF8.self)
            let line = try #require(text.firstMatch(of: /^# yaml-language-server: \$schema=(\S+)\n/), "\(path)")
            let folder = path.split(separator: "/").dropLast().joined(separator: "/")
            #expect(throws: Never.self, "\(path)") { try Self.system.read("/\(folder)/\(line.1)", 1 << 20) }
        }
    }

    @Test(arguments: KeySet.all)
    func `the schema lists the keys that the loader reads`(keys: KeySet) throws {
        let data = Data(try Repository.bytes("conf/pintle.schema.json"))
        let schema = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let definitions = try #require(schema["$defs"] as? [String: Any])
        let start: [String: Any]
        let steps: [Substring]
        if keys.path.hasPrefix("routes[]") {
            start = try #require(definitions["route"] as? [String: Any])
            steps = keys.path.split(separator: ".").dropFirst().map { $0 }
        } else if keys.path.hasPrefix("trust.NAME") {
            start = try #require(definitions["trust"] as? [String: Any])
            steps = keys.path.split(separator: ".").dropFirst(2).map { $0 }
        } else if keys.path.hasPrefix("credentials.NAME") {
            start = try #require(definitions["credential"] as? [String: Any])
            steps = keys.path.split(separator: ".").dropFirst(2).map { $0 }
        } else if keys.path.hasPrefix("lists.NAME") {
            start = try #require(definitions["list"] as? [String: Any])
            steps = keys.path.split(separator: ".").dropFirst(2).map { $0 }
        } else {
            start = schema
            steps = keys.path.split(separator: ".")
        }
        let node = try steps.reduce(start) { node, step in
            let properties = try #require(node["properties"] as? [String: Any])
            let property = try #require(properties[String(step.replacing("[]", with: ""))] as? [String: Any])
            return Self.map(property, definitions) ?? property
        }
        let properties = try #require(node["properties"] as? [String: Any])
        #expect(properties.keys.sorted() == keys.known.sorted())
        #expect(node["additionalProperties"] as? Bool == false)
    }

    /// The form of a value that is a map with fixed keys, or the form of the members of a list; nil if it has none.
    private static func map(_ schema: [String: Any], _ definitions: [String: Any]) -> [String: Any]? {
        if schema["properties"] != nil { return schema }
        if let name = (schema["$ref"] as? String)?.split(separator: "/").last.map(String.init) {
            return (definitions[name] as? [String: Any]).flatMap { Self.map($0, definitions) }
        }
        if let items = schema["items"] as? [String: Any] { return Self.map(items, definitions) }
        let forms = ["anyOf", "oneOf"].flatMap { schema[$0] as? [[String: Any]] ?? [] }
        return forms.lazy.compactMap { Self.map($0, definitions) }.first
    }

    @Test(arguments: KeySet.all)
    func `LOOK-51 the reference has every key where it is looked for`(keys: KeySet) throws {
        let text = String(decoding: try Repository.bytes("docs/configuration.md"), as: UTF8.self)
        let lines = text.split(separator: "\n")
        var steps = keys.path.replacing("[]", with: "").split(separator: ".").filter { $0 != "NAME" }
        // The innermost name that has a section, and in this section the lines about the names below it.
        var below: [Substring] = []
        var section = Self.section(steps.last ?? "", in: lines)
        while section.isEmpty, let step = steps.popLast() {
            below.append(step)
            section = Self.section(steps.last ?? "", in: lines)
        }
        let told = section.filter { line in below.isEmpty || below.contains { line.contains("`\($0)`") } }.joined()
        for key in keys.known where told.firstMatch(of: try Regex("`[^`]*\\b\(key)\\b[^`]*`")) == nil {
            Issue.record("\(keys.path): docs/configuration.md says nothing of \(key)")
        }
    }

    /// The lines below the heading, or the table head, with the name.
    private static func section(_ name: Substring, in lines: [Substring]) -> [Substring] {
        var isInside = false
        return lines.filter { line in
            if line.hasPrefix("| key of ") {
                isInside = line.hasPrefix("| key of `\(name)` ")
            } else if line.hasPrefix("## ") || line.hasPrefix("### ") {
                isInside = line.hasSuffix(name.isEmpty ? " Top level" : " `\(name)`")
            }
            return isInside
        }
    }

    @Test(arguments: KeySet.all)
    func `LOOK-51 the file with every key has every key of the loader, in its place`(keys: KeySet) throws {
        let text = String(decoding: try Repository.bytes("conf/pintle.yaml"), as: UTF8.self)
        // The example has a name at the place where the loader accepts any.
        let steps = keys.path.replacing("NAME", with: "payments").replacing("[]", with: "").split(separator: ".")
        let lines = text.split(separator: "\n").map { Self.uncommented(String($0)) }
        let places = steps.reduce([lines]) { places, step in places.flatMap { Self.values(of: String(step), in: $0) } }
        let found = places.joined().joined(separator: "\n")
        for key in keys.known where found.firstMatch(of: try Self.key(key)) == nil {
            Issue.record("\(keys.path) has no \(key) in conf/pintle.yaml")
        }
    }

    /// A line that is commented out as it would be without, and the first of a list's entry like the others of it.
    private static func uncommented(_ line: String) -> String {
        line.replacing(#/^(\ *)#\ /#) { "\($0.1)" }.replacing(#/^(\ +)-\ /#) { "\($0.1)  " }
    }

    private static func key(_ name: String) throws -> Regex<AnyRegexOutput> {
        try Regex("(^|[ {,#])\(name):( |$)").anchorsMatchLineEndings()
    }

    /// Returns the values of `key` in these lines: the braces after it, or the more indented lines below it.
    private static func values(of key: String, in lines: [String]) -> [[String]] {
        lines.indices.compactMap { index in
            guard let match = try? lines[index].firstMatch(of: self.key(key)) else { return nil }
            let rest = lines[index][match.range.upperBound...]
            // A value in braces is on one line, and followed by its other forms.
            if rest.contains("{"), !rest.hasPrefix("{}") { return [String(rest)] }
            let indent = lines[index].prefix { $0 == " " }.count
            return Array(lines[(index + 1)...].prefix { $0.isEmpty || $0.prefix { $0 == " " }.count > indent })
        }
    }
}
