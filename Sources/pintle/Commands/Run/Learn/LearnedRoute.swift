// SPDX-License-Identifier: Apache-2.0

internal import PintlePins
internal import PintleSerialization

/// A route's rules for responses, which all observed responses satisfy.
struct LearnedRules: Sendable, Equatable {
    /// The statuses as the configuration writes them; empty for all.
    let statuses: [String]
    /// The media types; empty for all.
    let types: [String]
    /// The rule for bodies; nil if they are not examined.
    let body: LearnedAnswers.BodyRule?
    /// True if JSON may be a string, a number, a truth value or null.
    let takesFragments: Bool
    /// The schema for ``LearnedAnswers/BodyRule/schema``.
    let schema: Parameter?
    /// The reason why the rule for bodies is not stricter.
    let reason: String?

    /// The maximum number of statuses to list; more are replaced by ranges of hundreds.
    private static let mostStatuses = 8

    init(_ answers: LearnedAnswers) {
        let sorted = answers.statuses.sorted()
        if answers.hasAnyStatus {
            self.statuses = []
        } else if sorted.count <= Self.mostStatuses {
            self.statuses = sorted.map { "\($0)" }
        } else {
            self.statuses = Set(sorted.map { $0 / 100 }).sorted().map { "\($0)xx" }
        }
        self.types = answers.hasAnyType ? [] : answers.types.sorted()
        let isJSON = answers.hasJSON && !answers.hasAnyType && answers.rule != .any
        self.body = isJSON ? answers.rule : nil
        self.schema = isJSON && answers.rule == .schema ? answers.schema : nil
        self.takesFragments = isJSON && answers.hasFragments
        self.reason = answers.hasJSON && self.schema == nil ? answers.reason : nil
    }

    /// Returns the lines of `response`; none if nothing is required.
    ///
    /// - Parameter file: the path of the schema, as the configuration writes it.
    func lines(schemaFile file: String?) -> [String] {
        var lines: [String] = []
        if !self.statuses.isEmpty { lines.append("status: [\(self.statuses.joined(separator: ", "))]") }
        if !self.types.isEmpty {
            lines.append("content_types: [\(self.types.map(\.yamlQuoted).joined(separator: ", "))]")
        }
        var rules = self.takesFragments ? ["fragments: true"] : []
        if self.schema != nil, let file { rules.append("schema: \(file.yamlQuoted)") }
        if self.body != nil {
            lines.append(rules.isEmpty ? "body: json" : "body: {json: {\(rules.joined(separator: ", "))}}")
        }
        if let reason {
            lines.append("# \(self.body == nil ? "Bodies are not judged" : "There is no schema"): \(reason).")
        }
        // A key with only comments below it would have no value.
        return lines.contains { !$0.hasPrefix("#") } ? ["response:"] + lines.map { "  \($0)" } : lines
    }

    /// Returns the rules of a leaf, each with its methods; at least one.
    static func all(of leaf: PathNode.Leaf) -> [(rules: LearnedRules, methods: [String])] {
        var all: [(rules: LearnedRules, methods: [String])] = []
        for method in leaf.answers.keys.sorted() {
            guard let answers = leaf.answers[method] else { continue }
            let rules = LearnedRules(answers)
            if let place = all.firstIndex(where: { $0.rules == rules }) {
                all[place].methods.append(method)
            } else {
                all.append((rules, [method]))
            }
        }
        return all
    }
}

/// Creates unique names: letters, digits and `-._`, at most 64.
struct LearnedNames {
    private var taken: Set<String>

    init(reserving names: Set<String>) { self.taken = names }

    /// - Parameter words: in the order of their importance; characters that are not allowed in names separate them.
    mutating func name(_ words: [String]) -> String {
        var base = ""
        for byte in words.joined(separator: "-").utf8.prefix(200) where base.utf8.count < 56 {
            let isPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._".utf8.contains(byte)
            if isPlain {
                base.unicodeScalars.append(UnicodeScalar(byte))
            } else if byte == UInt8(ascii: "*"), !base.hasSuffix("any") {
                base += base.isEmpty || base.hasSuffix("-") ? "any" : "-any"
            } else if !base.isEmpty, !base.hasSuffix("-") {
                base += "-"
            }
        }
        while base.hasSuffix("-") { base.removeLast() }
        if base.isEmpty { base = "learnt" }
        var (name, number) = (base, 2)
        while !self.taken.insert(name).inserted {
            name = "\(base)-\(number)"
            number += 1
        }
        return name
    }
}
