// SPDX-License-Identifier: Apache-2.0

import PintlePolicy
import PintleSerialization
import PintleTesting
import Testing

@testable import pintle

/// The keys that the reference lists, compared with those that the loader reads.
struct ConfigurationReferenceTests {
    private static let keys = ConfigurationSchema.embedded.keys
    static let paths = Self.keys.map(\.path)
    /// The folder of recordings is left out: its default follows from the place of the file.
    static let withDefaults = Self.keys.filter { $0.standardValue != nil && $0.path != "recordings.path" }.map(\.path)
    static let withRanges = Self.keys.filter { $0.range?.contains(" to ") == true }.map(\.path)

    // MARK: Names

    @Test func `the reference has every key of the loader, and no other`() {
        let known = KeySet.all.flatMap { keys in
            keys.known.map { keys.path.isEmpty ? $0 : "\(keys.path).\($0)" }
        }
        // A list with one entry may be left out, so the reference has no brackets there; sets of faults have the keys of faults.
        let plain = { (path: String) in
            path.replacing("[]", with: "").replacing("faults.NAME.", with: "routes.faults.")
                .replacing("routes.mock.when.", with: "routes.faults.when.")
                .replacing("routes.mock.delay.", with: "routes.faults.delay.")
        }
        let listed = Set(Self.paths.map(plain))
        #expect(listed.subtracting(known.map(plain)) == [])
        #expect(Set(known.map(plain)).subtracting(listed) == [])
        #expect(ReferencePages.configuration.terms.sorted() == Self.paths.sorted())
    }

    @Test func `every key is told with its type, its first version and its meaning`() {
        for key in Self.keys {
            #expect(!key.text.isEmpty, "\(key.path)")
            #expect(!key.since.isEmpty, "\(key.path)")
        }
    }

    @Test func `a key says the version that it came with`() throws {
        let schema = try JSONScanner().parse(
            Array(#"{"properties":{"new":{"type":"integer","minimum":1,"x-since":"0.2.0","description":"New."}}}"#.utf8)
        )
        let key = try #require(ConfigurationSchema(schema).keys.first)
        #expect(key.path == "new" && key.since == "0.2.0" && key.range == "from 1" && key.forms == ["whole number"])
    }

    // MARK: Values

    @Test(arguments: Self.withDefaults)
    func `a key with the default of the reference does nothing`(path: String) throws {
        let key = try #require(Self.keys.first { $0.path == path })
        let value = try #require(key.standardValue)
        let without = try Self.load(Self.document(for: path))
        let with = try Self.load(Self.document(for: path, value: value))
        #expect(with == without, "\(value)")
    }

    @Test(arguments: Self.withRanges)
    func `the loader takes the bounds of the reference, and nothing beyond`(path: String) throws {
        let range = try #require(Self.keys.first { $0.path == path }?.range)
        let bounds = range.split(separator: " to ").map(String.init)
        let (least, most) = (try Self.amount(bounds[0]), try Self.amount(bounds[1]))
        for bound in bounds { #expect(Self.complaints(path, bound) == [], "\(bound)") }
        #expect(Self.complaints(path, Self.spelled(most.count + 1, most.isDuration)) != [])
        if least.count > 0 { #expect(Self.complaints(path, Self.spelled(least.count - 1, least.isDuration)) != []) }
    }

    // MARK: Support

    /// Returns the problems about the range of one value.
    private static func complaints(_ path: String, _ value: String) -> [String] {
        let value = Int64(value).map { Parameter.integer($0) } ?? Double(value).map { .number($0) } ?? .string(value)
        do {
            _ = try Self.load(Self.document(for: path, value: value))
            return []
        } catch let error as ConfigurationError {
            return error.problems.map(\.message).filter {
                $0.contains("from ") && $0.contains(" to ") || $0.contains("must be a part of all")
            }
        } catch {
            return ["\(error)"]
        }
    }

    /// Reads a number of bytes, of milliseconds, or of anything else.
    private static func amount(_ text: String) throws -> (count: Int, isDuration: Bool) {
        let units = [
            "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "KiB": 1 << 10, "MiB": 1 << 20,
            "GiB": 1 << 30,
        ]
        let digits = text.prefix { $0.isNumber }
        let unit = String(text[digits.endIndex...])
        let number = try #require(Int(digits), "\(text)")
        return (number * (units[unit] ?? 1), !unit.isEmpty && !unit.hasSuffix("B"))
    }

    private static func spelled(_ count: Int, _ isDuration: Bool) -> String { isDuration ? "\(count)ms" : "\(count)" }

    /// Loads a configuration, and returns the words of its description, without the places of its values. Words are sorted,
    /// because the members of sets have no order.
    private static func load(_ document: Parameter) throws -> [Substring] {
        let folder = try TemporaryFolder()
        try folder.write("x", to: "file.html")
        try folder.write("{}", to: "schema.json")
        try folder.write("u:$2y$05$abcdefghijklmnopqrstuuSw5tq0rJd8FHNcEYqA0JmUEtQ7oTtUG\n", to: "users")
        let yaml = Array(document.jsonText.utf8)
        let configuration = try PolicyLoader.configuration(
            yaml: yaml, file: folder.path + "/pintle.yaml",
            surroundings: .system(environment: ["TOKEN": "0123456789abcdef"]))
        let text = String(reflecting: configuration).replacing("\(folder.path)/", with: "")
            .replacing(/AccessPlaces\(positions: \[.*?\]\)/, with: "").replacing(/\d+:\d+/, with: "")
            .replacing(/pntl_\w+/, with: "")
        return text.split { !$0.isLetter && !$0.isNumber && !"./-*".contains($0) }.sorted()
    }

    /// A configuration in which a key may stand, without or with a value.
    private static func document(for path: String, value: Parameter? = nil) -> Parameter {
        var document: Parameter = .dictionary([.init("version", 1)])
        let needs = Self.needs.filter { path.hasPrefix($0.prefix) }.flatMap(\.values)
        for (place, needed) in needs where place != path { Self.set(&document, place, needed) }
        if let value { Self.set(&document, path, value) }
        return document
    }

    private static func set(_ document: inout Parameter, _ path: String, _ value: Parameter) {
        document = Self.set(document, path.split(separator: ".")[...], value)
    }

    private static func set(_ node: Parameter?, _ steps: ArraySlice<Substring>, _ value: Parameter) -> Parameter {
        guard let step = steps.first else { return value }
        let isList = step.hasSuffix("[]")
        let key = String(isList ? step.dropLast(2) : step)
        let name = key == "NAME" ? "some" : key
        var inner = node?[name]
        if isList, case .array(let entries)? = inner { inner = entries.first }
        inner = Self.set(inner, steps.dropFirst(), value)
        let entry = Parameter.Entry(name, isList ? .array([inner ?? .null]) : inner ?? .null)
        guard case .dictionary(var entries)? = node else { return .dictionary([entry]) }
        if let place = entries.firstIndex(where: { $0.key == name }) {
            entries[place] = entry
        } else {
            entries.append(entry)
        }
        return .dictionary(entries)
    }

    /// Those of mocks and faults, wherever these stand.
    private static let ofSimulations: [(prefix: String, values: [(String, Parameter)])] = [
        "routes[].mock[]", "routes[].faults[]", "faults.NAME[]",
    ].flatMap { place -> [(prefix: String, values: [(String, Parameter)])] in
        let pairs = [("min", "max"), ("mean", "deviation"), ("median", "p99")]
        let latencies = (pairs + pairs.map { ($1, $0) }).map { key, other in
            ("\(place).delay.\(key)", [("\(place).delay.\(other)", Parameter.string("1m"))])
        }
        return latencies + [
            ("\(place).when.", [("\(place).when.first", 1), ("\(place).status", 503)]),
            ("\(place).limit.requests", [("\(place).limit.per", "1m")]),
            ("\(place).limit.per", [("\(place).limit.requests", 1)]),
        ]
    }
    private static let pins: [(String, Parameter)] = [
        ("trust.NAME.pinning", "public_key"),
        ("trust.NAME.pins", .string("sha256/\(String(repeating: "A", count: 43))=")),
        ("trust.NAME.expires", "2100-01-01"),
    ]
    private static let remoteList: [(String, Parameter)] = [("lists.NAME.url", "https://a.test/list.txt")]
    /// The keys that must stand beside those that begin with a prefix.
    private static let needs: [(prefix: String, values: [(String, Parameter)])] =
        Self.ofSimulations + [
            ("routes[]", [("routes[].name", "r")]),
            ("tracing.", [("tracing.otlp", "http://127.0.0.1:4318")]),
            ("capture.", [("capture.bodies", "64KiB")]),
            ("clients.basic_auth.", [("clients.basic_auth.users", "users")]),
            ("upstream_proxy.", [("upstream_proxy.url", "http://parent.test:3128")]),
            ("ask.webhook.", [("ask.webhook.url", "https://a.test/"), ("ask.webhook.secret", "0123456789abcdef")]),
            ("lists.NAME.trust", Self.remoteList), ("lists.NAME.every", Self.remoteList),
            ("lists.NAME.timeout", Self.remoteList),
            ("contract.", [("contract.file", "file.html")]),
            ("routes[].contract.", [("routes[].contract.file", "file.html")]),
            ("routes[].coalesce.", [("routes[].coalesce.max_active", 4)]),
            ("routes[].cors.", [("routes[].cors.origins", "https://app.test")]),
            ("routes[].rewrite_upstream", [("routes[].upstream", "http://127.0.0.1:9000/")]),
            ("routes[].request.forwarded.", [("routes[].request.forwarded.fields", "x_forwarded")]),
            ("routes[].request.uri_methods", [("routes[].request.serialize", "json")]),
            ("routes[].request.string_encoding", [("routes[].request.serialize", "http")]),
            ("routes[].request.json.", [("routes[].request.serialize", "json")]),
            ("routes[].request.plist.", [("routes[].request.serialize", "plist")]),
            ("routes[].request.throttle.packet", [("routes[].request.throttle.delay", "200ms")]),
            ("routes[].request.throttle.delay", [("routes[].request.throttle.packet", "16KiB")]),
            ("routes[].request.retries.attempts", [("routes[].request.retries.on", "connect_failure")]),
            ("routes[].response.", [("routes[].response.body", "json")]),
            (
                "routes[].response.body.image.",
                [("routes[].response.body", .dictionary([.init("image", .dictionary([]))]))]
            ),
            ("routes[].response.placeholder", [("routes[].response.placeholder.file", "file.html")]),
            ("routes[].mock[]", [("routes[].mock[].status", 200)]),
            ("routes[].replay.", [("routes[].replay.mode", "replay"), ("routes[].replay.tape", "users")]),
            ("trust.NAME.", [("trust.NAME.hosts", "a.test")]),
            ("trust.NAME.on_expiry", Self.pins), ("trust.NAME.warn_before_expiry", Self.pins),
            ("trust.NAME.match", Self.pins),
            (
                "credentials.NAME.",
                [
                    ("credentials.NAME.value", "env:TOKEN"), ("credentials.NAME.for[].hosts", "a.test"),
                    ("credentials.NAME.trust", "some"), ("trust.some.hosts", "a.test"),
                ]
            ),
        ]
}
