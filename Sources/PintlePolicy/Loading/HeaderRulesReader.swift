// SPDX-License-Identifier: Apache-2.0

private import PintleMessage

/// Reads the `headers` of requests and responses.
struct HeaderRulesReader {
    /// The kind of message that the rules apply to.
    enum Direction {
        case request, response
    }

    private let direction: Direction

    static func read(_ map: StrictMap, of direction: Direction) -> HeaderRules {
        let reader = HeaderRulesReader(direction: direction)
        var rules = HeaderRules()
        map.read("remove", into: &rules.remove) { node in
            node.values { node in
                node.parsed { text throws(Malformed) in
                    try reader.checkName(text)
                    return text
                }
            }
        }
        if direction == .request { map.read("default", into: &rules.defaults, reader.lines) }
        map.read("set", into: &rules.set, reader.lines)
        map.read("add", into: &rules.add, reader.lines)
        return rules
    }

    /// Reads the fields of a response of the configuration's own.
    static func responseLines(_ node: StrictNode) -> [HeaderRules.Line]? {
        HeaderRulesReader(direction: .response).lines(node)
    }

    private func lines(_ node: StrictNode) -> [HeaderRules.Line]? {
        guard let entries = node.entries() else { return nil }
        var lines: [HeaderRules.Line] = []
        var names: Set<String> = []
        for entry in entries {
            if let line = self.line(entry) {
                if !names.insert(line.name.lowercased()).inserted {
                    entry.value.context.report(
                        "the field is named twice; field names have no letter case", path: entry.value.path,
                        at: entry.position)
                }
                lines.append(line)
            }
        }
        return lines
    }

    /// Reads a field line. Values keep their spelling: `on` is "on" and 010 is "010".
    private func line(_ entry: StrictEntry) -> HeaderRules.Line? {
        do throws(Malformed) {
            try self.checkName(entry.key)
        } catch {
            entry.value.context.report(error.reason, path: entry.value.path, at: entry.position)
            return nil
        }
        return entry.value.parsed { text throws(Malformed) in
            guard FieldSyntax.isValue(text) else {
                throw Malformed("a field value has no control characters and no spaces at its ends")
            }
            return HeaderRules.Line(name: entry.key, value: text, position: entry.position)
        }
    }

    /// Refuses fields that rules must not touch: they frame a message, belong to one connection, or are Pintle's own.
    private func checkName(_ name: String) throws(Malformed) {
        guard FieldSyntax.isName(name) else { throw Malformed("not a field name") }
        switch FieldName(name) {
        case .host where self.direction == .request:
            throw Malformed("Host follows the request's target and cannot be changed here; set an upstream")
        case .contentLength, .transferEncoding:
            throw Malformed("frames the message; Pintle writes it anew for every message")
        case .connection, .keepAlive, .proxyConnection, .te, .trailer, .upgrade, .proxyAuthenticate,
            .proxyAuthenticationInfo, .proxyAuthorization, .proxy:
            throw Malformed("belongs to one connection (hop-by-hop) and is never forwarded")
        case .via, .expect, .maxForwards:
            throw Malformed("is kept by Pintle itself as it forwards")
        default: return
        }
    }
}
