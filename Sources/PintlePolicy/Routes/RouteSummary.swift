// SPDX-License-Identifier: Apache-2.0

private import PintleMessage

/// What a route does, in a sentence for `pintle check` and `pintle explain`. No injected value is shown: it may be
/// secret.
package struct RouteSummary: CustomStringConvertible {
    private let route: RouteConfiguration

    package init(_ route: RouteConfiguration) {
        self.route = route
    }

    /// `"charge": POST api.pay.example/v1/** → https://api.pay.example/v1/, trust payments; …`.
    package var description: String {
        let rules = (self.requestRules + self.responseRules).joined(separator: "; ")
        let line = "\"\(self.route.name)\": \(self.matched) → \(self.destination)"
        return rules.isEmpty ? line : "\(line); \(rules)"
    }

    private var matched: String {
        let match = self.route.match
        let methods = match.methods.isEmpty ? "every method" : match.methods.joined(separator: ",")
        let schemes = match.schemes.map(\.rawValue).joined(separator: ",")
        let hosts = match.hosts.isEmpty ? "every host" : match.hosts.map(\.description).joined(separator: ",")
        let paths = match.paths.map(\.description).joined(separator: ",")
        return [methods, schemes, hosts, paths].filter { !$0.isEmpty }.joined(separator: " ")
    }

    private var destination: String {
        var text = self.route.upstream?.description ?? "where it was aimed"
        if let prefix = self.route.stripPrefix { text += " without \(prefix)" }
        if let trust = self.route.trust { text += ", trust \(trust.value)" }
        return text
    }

    private var requestRules: [String] {
        let request = self.route.request
        var rules: [String] = []
        if !request.headers.remove.isEmpty { rules.append("removes \(request.headers.remove.joined(separator: ", "))") }
        for (verb, lines) in [
            ("defaults", request.headers.defaults), ("sets", request.headers.set), ("adds", request.headers.add),
        ] where !lines.isEmpty {
            rules.append("\(verb) \(lines.map(\.name).joined(separator: ", "))")
        }
        if request.serialize != .none { rules.append("serializes parameters as \(request.serialize.rawValue)") }
        return rules
    }

    private var responseRules: [String] {
        let response = self.route.response
        guard !response.isEmpty else { return [] }
        var wanted = response.status.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
        wanted += response.contentTypes ?? []
        if response.body == .json { wanted.append(response.removeNulls ? "JSON without nulls" : "JSON") }
        let verb = response.onViolation == .reject ? "accepts only" : "reports all but"
        return ["\(verb) \(wanted.joined(separator: ", "))"]
    }
}
