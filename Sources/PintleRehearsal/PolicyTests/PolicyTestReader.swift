// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
package import PintlePolicy
internal import PintleSchema
internal import PintleSerialization
internal import PintleTrust

/// Reads a file of policy tests as strictly as a configuration: unknown keys, wrong types and contradictions are errors with
/// their places.
package enum PolicyTestReader {
    /// Reads the tests of a file, which may have several documents.
    ///
    /// - Parameters:
    ///   - path: paths in the file are relative to its folder.
    ///   - surroundings: told of the files that the tests name, too.
    /// - Throws: all faults of the file.
    package static func read(
        _ path: String, _ surroundings: LoaderEnvironment
    ) throws(ConfigurationError) -> [PolicyTest] {
        let context = LoadingContext(file: path, surroundings: surroundings)
        do throws(LoaderEnvironment.ReadingError) {
            let bytes = try surroundings.read(path, YAMLDocument.byteLimit)
            let tests = Self.tests(YAMLDocument.composeAll(bytes, context) ?? [], context)
            if tests.isEmpty, context.problems.isEmpty {
                context.report("the file has no test; a test begins with: - name: …", path: "", at: nil)
            }
            guard context.problems.isEmpty else { throw .notFound }
            return tests
        } catch {
            if context.problems.isEmpty {
                context.report(error.words(for: path, limit: YAMLDocument.byteLimit), path: "", at: nil)
            }
        }
        throw ConfigurationError(context.problems)
    }

    private static func tests(_ roots: [StrictNode], _ context: LoadingContext) -> [PolicyTest] {
        var tests: [PolicyTest] = []
        var places: [String: SourcePosition] = [:]
        for root in roots where !root.isNull {
            if root.isMap {
                root.report("must be a list of tests, not a map; a configuration is named with -c")
                continue
            }
            for node in root.list() ?? [] {
                guard let test = Self.test(node) else { continue }
                if let earlier = places.updateValue(test.position, forKey: test.name) {
                    node.report("the test at \(earlier.words) has this name, too; reports tell tests by their names")
                }
                tests.append(test)
            }
        }
        return tests
    }

    private static func test(_ node: StrictNode) -> PolicyTest? {
        guard let map = node.map(PolicyTestKeys.test) else { return nil }
        guard let name = map["name"] else {
            node.report("the key \"name\" is missing: a sentence that says what is tested")
            return nil
        }
        guard let text = name.nonEmptyString() else { return nil }
        let position = node.position
        var test = PolicyTest(
            name: text,
            position: SourcePosition(line: position.line, column: position.column, in: node.context.file))
        if let node = map["request"] { test.request = PolicyRequestReader.read(node) }
        if let node = map["response"] { test.response = PolicyResponseReader.read(node) }
        if let node = map["chain"] { test.chain = PolicyChainReader.read(node) }
        if let map = map["expect"]?.map(PolicyTestKeys.expect) { PolicyDemandReader.read(map, into: &test) }
        if let node = map["violations"], let names = PolicyDemandReader.violations(node) {
            test.violations = Located(names, at: node.position)
        }
        Self.check(test, map)
        return test
    }

    private static func isEmpty(_ expect: StrictNode?) -> Bool {
        guard let expect, !expect.isNull else { return true }
        return expect.isMap && expect.entries()?.isEmpty == true
    }

    /// Refuses demands on what the test does not have, and tests that could not fail.
    private static func check(_ test: PolicyTest, _ map: StrictMap) {
        guard map["request"] != nil || map["chain"] != nil else {
            return map.node.report("has neither a request nor a chain; there is nothing to test")
        }
        if map["request"] == nil {
            let hint = "needs a request"
            for key in ["response", "violations"] { map[key]?.report(hint) }
            for demand in test.facts where demand.fact.isOfRequest {
                map["expect"]?.report("\(demand.fact.rawValue) \(hint)")
            }
            if !test.fields.isEmpty { map["expect"]?.report("headers \(hint)") }
            if test.body != nil { map["expect"]?.report("a body \(hint)") }
            if let chain = test.chain, chain.host == nil {
                map["chain"]?.report("the key \"host\" is missing: the server that shows the chain")
            }
        }
        if map["request"] != nil, test.chain?.host != nil {
            map["chain"]?.report("host is the server that the request goes to; leave it out")
        }
        if map["chain"] == nil {
            for demand in test.facts where demand.fact.isOfChain {
                map["expect"]?.report("\(demand.fact.rawValue) needs a chain")
            }
        }
        if test.demandsNothing, map["violations"] == nil, Self.isEmpty(map["expect"]) {
            map.node.report("expects nothing, so it could not fail; add expect, or violations for a response")
        }
        if let node = map["response"], test.violations == nil, map["violations"] == nil,
            !test.facts.contains(where: { [.status, .decision, .problem, .would].contains($0.fact) })
        {
            node.report("nothing is expected of it; add violations, which is [] for a response that keeps its contract")
        }
    }
}

/// Reads `chain`.
enum PolicyChainReader {
    static func read(_ node: StrictNode) -> PolicyTest.Chain? {
        guard let map = node.map(PolicyTestKeys.chain) else { return nil }
        guard let file = map["file"] else {
            node.report("the key \"file\" is missing: the certificates, leaf first, in PEM or DER")
            return nil
        }
        guard var certificates = Self.certificates(file) else { return nil }
        if let node = map["intermediates"] { certificates += node.values(Self.certificates)?.flatMap { $0 } ?? [] }
        return PolicyTest.Chain(
            certificates: certificates, roots: map["roots"]?.values(Self.certificates)?.flatMap { $0 },
            host: map["host"]?.parsed { text throws(Malformed) in
                guard let authority = Authority(text, defaultPort: 443) else {
                    throw Malformed("must be a host, or host:port")
                }
                return authority
            },
            moment: map["at"]?.parsed { text throws(Malformed) in
                guard let moment = UnixTime(iso8601: text) else {
                    throw Malformed("must be a date or a time, as in 2027-01-01 or 2027-01-01T12:00:00Z")
                }
                return moment
            })
    }

    private static func certificates(_ node: StrictNode) -> [Certificate]? {
        guard let name = node.nonEmptyString() else { return nil }
        let path = node.resolve(name)
        node.context.surroundings.note(path)
        do throws(TrustError) {
            return try Certificate.load(path: path)
        } catch {
            node.report(error.description)
            return nil
        }
    }
}
