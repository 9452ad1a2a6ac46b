// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleTape

/// Reads `recordings`, and `replay` of routes.
enum ReplayReader {
    static func recordings(_ top: StrictMap) -> RecordingsConfiguration {
        var recordings = RecordingsConfiguration()
        guard let map = top["recordings"]?.map(.recordings) else { return recordings }
        map.read("path", into: &recordings.path) { node in
            node.nonEmptyString().map { .some(node.resolve($0)) }
        }
        map.read("bodies", into: &recordings.bodies) { $0.byteCount(RecordingsConfiguration.lengths) }
        map.read("redact", into: &recordings.redact) { $0.values(Self.redaction) }
        map.read("max_age", into: &recordings.maxAge) { node in
            node.duration(RecordingsConfiguration.ages).map { .some($0) }
        }
        return recordings
    }

    private static func redaction(_ node: StrictNode) -> RedactionRule? {
        node.parsed { text throws(Malformed) in
            do throws(TapeError) {
                return try RedactionRule(text)
            } catch {
                throw Malformed(error.reason)
            }
        }
    }

    /// - Returns: nil after an error, and no rules for `off`.
    static func replay(_ node: StrictNode) -> ReplayRules?? {
        if node.isOff { return .some(nil) }
        guard let map = node.map(.replay) else { return nil }
        if map["mode"]?.isOff == true { return .some(nil) }
        guard let tape = map["tape"].flatMap(Self.tape) else {
            if map["tape"] == nil {
                node.report("the key \"tape\" is missing: a folder, or a .har, under recordings.path")
            }
            return nil
        }
        var rules = ReplayRules(tape: tape)
        map.read("mode", into: &rules.mode) { $0.choice() }
        map.read("match", into: &rules.match, Self.match)
        map.read("order", into: &rules.order) { $0.choice() }
        map.read("miss", into: &rules.miss) { $0.choice() }
        map.read("refresh", into: &rules.refreshes) { $0.bool() }
        map.read("timing", into: &rules.timing) { $0.choice() }
        if tape.hasSuffix(".har"), rules.mode == .record || rules.miss == .record {
            map["tape"]?.report("is an archive, which is only played; name a folder to record into")
        }
        for key in ["miss", "refresh", "timing"] where rules.mode != .replay {
            map[key]?.report("has no effect with mode: \(rules.mode.rawValue); it belongs to mode: replay")
        }
        return rules
    }

    /// A path below `recordings.path`, so that a tape can be told in one word.
    private static func tape(_ node: StrictNode) -> String? {
        node.parsed { text throws(Malformed) in
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard !text.isEmpty, !parts.contains(where: { $0.isEmpty || $0 == ".." || $0 == "." }) else {
                throw Malformed("must be the name of a folder, or of a .har, under recordings.path")
            }
            return text
        }
    }

    private static func match(_ node: StrictNode) -> MatchRules? {
        guard let map = node.map(.replayMatch) else { return nil }
        var match = MatchRules()
        map.read("by", into: &match.parts) { node in
            let parts: [MatchRules.Part]? = node.values { $0.choice() }
            return parts.map(Set.init)
        }
        map.read("ignore_query", into: &match.ignoredQuery) { node in
            node.values { $0.nonEmptyString() }.map(Set.init)
        }
        map.read("ignore_json", into: &match.ignoredJSON) { $0.values(Self.pointer) }
        map.read("headers", into: &match.fields) { $0.values(Self.fieldName) }
        if !match.parts.contains(.body) {
            map["ignore_json"]?.report("has no effect: match.by does not name body")
        }
        if !match.parts.contains(.url) { map["ignore_query"]?.report("has no effect: match.by does not name url") }
        return match
    }

    private static func pointer(_ node: StrictNode) -> [String]? {
        node.parsed { text throws(Malformed) in
            do throws(TapeError) {
                return try RedactionRule.segments(text)
            } catch {
                throw Malformed(error.reason)
            }
        }
    }

    private static func fieldName(_ node: StrictNode) -> String? {
        node.parsed { text throws(Malformed) in
            guard FieldSyntax.isName(text) else { throw Malformed("must be the name of a field") }
            return text.lowercased()
        }
    }
}
