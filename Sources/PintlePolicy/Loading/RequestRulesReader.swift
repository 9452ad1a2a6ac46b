// SPDX-License-Identifier: Apache-2.0

private import PintleMessage

/// Reads `routes[].request`.
enum RequestRulesReader {
    static func read(_ map: StrictMap) -> RequestRules {
        var rules = RequestRules()
        if let headers = map["headers"]?.map(.requestHeaders) { rules.headers = Self.readHeaders(headers) }
        if let parameters = map["parameters"] { rules.parameters = ParameterReader.readMap(parameters) ?? [] }
        map.read("serialize", into: &rules.serialize) { $0.choice() }
        if let node = map["parameters"], !rules.parameters.isEmpty, rules.serialize == .none {
            node.report("are not sent while serialize is none; set serialize: http or json")
        }
        map.read("uri_methods", into: &rules.uriMethods) { $0.values(RouteReader.readMethod) }
        map.read("timeout", into: &rules.timeout) { $0.duration(ConfigurationReader.timeouts) }
        map.read("connect_timeout", into: &rules.connectTimeout) { $0.duration(ConfigurationReader.timeouts) }
        return rules
    }

    private static func readHeaders(_ map: StrictMap) -> HeaderRules {
        var rules = HeaderRules()
        map.read("remove", into: &rules.remove) { node in
            node.values { node in
                node.parsed { text throws(Malformed) in
                    try Self.checkName(text)
                    return text
                }
            }
        }
        map.read("default", into: &rules.defaults, Self.readLines)
        map.read("set", into: &rules.set, Self.readLines)
        map.read("add", into: &rules.add, Self.readLines)
        return rules
    }

    private static func readLines(_ node: StrictNode) -> [HeaderRules.Line]? {
        guard let entries = node.entries() else { return nil }
        var lines: [HeaderRules.Line] = []
        for entry in entries {
            if let line = Self.readLine(entry) {
                if lines.contains(where: { $0.name.lowercased() == line.name.lowercased() }) {
                    entry.value.context.report(
                        "the field is named twice; field names have no letter case", path: entry.value.path,
                        at: entry.position)
                }
                lines.append(line)
            }
        }
        return lines
    }

    /// Values keep their spelling: `on` is "on" and 010 is "010".
    private static func readLine(_ entry: StrictEntry) -> HeaderRules.Line? {
        do throws(Malformed) {
            try Self.checkName(entry.key)
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

    /// Names that rules may touch: not what frames a message or belongs to one connection.
    private static func checkName(_ name: String) throws(Malformed) {
        guard FieldSyntax.isName(name) else { throw Malformed("not a field name") }
        switch FieldName(name) {
        case .host: throw Malformed("Host follows the request's target and cannot be changed here; set an upstream")
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
