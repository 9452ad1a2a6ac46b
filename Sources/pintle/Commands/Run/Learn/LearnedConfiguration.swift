// SPDX-License-Identifier: Apache-2.0

internal import PintleAudit
internal import PintleMessage
internal import PintlePins
internal import PintlePolicy
internal import PintleSerialization
internal import PintleSession

/// A configuration that allows the observed traffic, with its JSON Schemas.
struct LearnedConfiguration {
    struct SchemaFile: Sendable {
        let name: String
        let text: String
    }

    /// The circumstances of the run, for readers of the configuration.
    struct Origin {
        /// The version of Pintle.
        var version: String
        /// The first word of the command.
        var program: String
        var moment: String
        /// The configuration that applied during the run.
        var base: String
    }

    /// The last route, which denies requests that were not learnt, and its upstream, a name that no host can have (RFC 6761
    /// §6.4).
    private static let nowhere = "not-learnt"
    private static let nowhereHost = "not-learnt.invalid"

    /// Methods that need no quotes in YAML.
    private static let plainMethods: Set = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

    private let traffic: LearnedTraffic
    private let base: Configuration
    /// The folder of the schemas, as the configuration writes it.
    private let folder: String
    private let hosts: [LearnedTrust.Named]
    private(set) var schemas: [SchemaFile] = []
    private var routeLines: [String] = []
    private(set) var routes = 0
    private(set) var text = ""

    /// The number of destinations.
    var hostCount: Int { self.hosts.count }

    /// - Parameters:
    ///   - folder: the folder of the schemas, as the configuration writes it.
    ///   - place: converts the paths of other files.
    init(
        _ traffic: LearnedTraffic, from origin: Origin, under base: Configuration, schemaFolder folder: String,
        place: LearnedPath
    ) {
        self.traffic = traffic
        self.base = base
        self.folder = folder
        var hosts: [LearnedTrust.Named] = []
        for (authority, host) in traffic.hosts where host.isLearnt {
            if let pattern = Self.pattern(authority) { hosts.append((pattern, authority, host)) }
        }
        self.hosts = hosts.sorted { ($0.authority.host, $0.authority.port) < ($1.authority.host, $1.authority.port) }
        self.writeRoutes()
        let trust = LearnedTrust(policies: base.trust, place: place).lines(for: self.hosts)
        let sections = [
            self.head(origin), ["version: 1"], self.parents, self.destinations(arePinned: !trust.isEmpty),
            self.interception, trust, self.routeLines, self.leftOut,
        ]
        self.text = sections.filter { !$0.isEmpty }.map { $0.map { "\($0)\n" }.joined() }.joined(separator: "\n")
    }

    /// Returns the host and the port as a pattern that matches nothing else; nil if that is not possible.
    private static func pattern(_ authority: Authority) -> String? {
        let text = authority.description
        // A host called `env` or `file`, followed by its port, would be read as a reference to another source.
        let spelled = text.hasPrefix("env:") || text.hasPrefix("file:") ? text.uppercased() : text
        guard let pattern = try? HostPattern(spelled), pattern.matches(authority) else { return nil }
        return spelled
    }

    // MARK: Sections

    private func head(_ origin: Origin) -> [String] {
        let requests = self.traffic.hosts.values.reduce(0) { $0 + $1.requests }
        let tunnels = self.traffic.hosts.values.reduce(0) { $0 + $1.intercepted + $1.relayed }
        let counts = "\(ReportText.count(requests, "request")) and \(ReportText.count(tunnels, "tunnel"))"
        var lines = [
            "Learnt by pintle \(origin.version) from a run of \(ReportText.line(origin.program)),",
            "\(origin.moment): \(counts).",
            "",
            "It allows what was seen then, and nothing else. It is no proof that what was seen is right, and says nothing of",
            "what the command did not do: read it, and make it yours, before you use it.",
            "Of paths, words stay and what looks like an identifier is a star; no query, field or value is here.",
        ]
        let hadRules =
            !self.base.routes.isEmpty || self.base.contract != nil
            || self.base.destinations != DestinationsConfiguration()
        if hadRules {
            lines.append("The rules of \(ReportText.line(origin.base)) held during the run; they are not here.")
        }
        if self.traffic.room.isShort {
            lines.append("NOT WHOLE: there was more than is kept apart; what is missing is denied, or judged as one.")
        }
        if self.traffic.missed > 0 {
            lines.append(
                "NOT WHOLE: \(ReportText.count(self.traffic.missed, "exchange")) came too fast to be looked at.")
        }
        return lines.map { $0.isEmpty ? "#" : "# \($0)" }
    }

    private var parents: [String] {
        guard let proxy = self.base.upstreamProxy, let parent = proxy.https ?? proxy.http else { return [] }
        guard parent.source == "upstream_proxy.url" else { return ["upstream_proxy: env"] }
        let exceptions = proxy.exceptions.descriptions.map(\.yamlQuoted).joined(separator: ", ")
        let lines = ["upstream_proxy:", "  url: \(parent.url.yamlQuoted)"]
        return lines + (exceptions.isEmpty ? [] : ["  no_proxy: [\(exceptions)]"])
            + (parent.server.credential == nil ? [] : ["  # Add its username and password, as env:NAME or file:PATH."])
    }

    private func destinations(arePinned: Bool) -> [String] {
        ["destinations:", "  default: deny", self.hosts.isEmpty ? "  allow: []" : "  allow:"]
            + self.hosts.map(Self.allowed) + self.namelessHellos
            + ["  deny: [\"\(Self.nowhereHost)\"]  # For the last route.", "  resolve: off"]
            + (arePinned ? ["unpinned_hosts: deny"] : [])
    }

    private static func allowed(_ host: LearnedTrust.Named) -> String {
        guard host.host.needsAnyProtocol else { return "    - \(host.pattern.yamlQuoted)" }
        return "    - \("tcp://\(host.pattern)".yamlQuoted)  # Captured clients spoke neither TLS nor HTTP."
    }

    /// The setting that allows the hosts with which clients made handshakes without a server name.
    private var namelessHellos: [String] {
        let hosts = self.hosts.filter { $0.host.hasNamelessHellos && IPAddress($0.authority.host) == nil }
        guard !hosts.isEmpty else { return [] }
        return [
            "  # A client named no server (SNI) in its handshakes with these, as Java does if a name has no dot. Such a handshake",
            "  # is with the server that answers by default at the host's address.",
            "  require_sni_match: {allow_absent: \(Self.list(hosts.map(\.pattern)))}",
        ]
    }

    private var interception: [String] {
        let hosts = self.hosts.filter { $0.host.tunnels == .intercepted }
        guard !hosts.isEmpty else { return [] }
        var lines = ["interception:", "  hosts: \(Self.list(hosts.map(\.pattern)))"]
        if hosts.contains(where: { $0.host.relayed > 0 }) {
            lines += [
                "  # A client refused our certificate for one of them, and went on unseen in tunnels of its own.",
                "  pass_through_on_alert: on",
            ]
        }
        return lines
    }

    private var leftOut: [String] {
        guard !self.traffic.refusals.isEmpty else { return [] }
        let lines = self.traffic.refusals.sorted { $0.key < $1.key }.map { sentence, count in
            "#   \(ReportText.line(sentence))\(count > 1 ? " (\(count) times)" : "")"
        }
        return ["# Not allowed here: it came to nothing, or has a method in small letters or one too many:"] + lines
    }

    private static func list(_ texts: [String]) -> String {
        "[\(texts.map(\.yamlQuoted).joined(separator: ", "))]"
    }

    // MARK: Routes

    private mutating func writeRoutes() {
        var names = LearnedNames(reserving: [Self.nowhere, "tunnels-verify", "tunnels-tunnel"])
        for host in self.hosts {
            for leaf in host.host.paths.leaves { self.writeRoutes(for: leaf, host, &names) }
        }
        for (mode, tunnels) in [("verify", LearnedHost.Tunnels.verified), ("tunnel", .relayed)] {
            self.writeTunnels(mode, self.hosts.filter { $0.host.requests == 0 && $0.host.tunnels == tunnels })
        }
        let judged = self.hosts.filter { $0.host.requests > 0 || $0.host.inside > 0 }.map(\.pattern)
        if !judged.isEmpty {
            self.routeLines += [
                "  # Everything else that these hosts are asked for is denied, by destinations.deny.",
                "  - name: \(Self.nowhere)", "    match: {hosts: \(Self.list(judged))}",
                "    upstream: \"http://\(Self.nowhereHost)/\"",
            ]
        }
        if !self.routeLines.isEmpty { self.routeLines.insert("routes:", at: 0) }
    }

    private mutating func writeRoutes(
        for leaf: PathNode.Leaf, _ host: LearnedTrust.Named, _ names: inout LearnedNames
    ) {
        for (rules, methods) in LearnedRules.all(of: leaf) {
            let name = names.name(methods.prefix(1).map { $0.lowercased() } + [host.authority.host + leaf.pattern])
            // Other methods may be words or symbols of YAML.
            let methodText = methods.map { Self.plainMethods.contains($0) ? $0 : $0.yamlQuoted }.joined(separator: ", ")
            var lines = [
                "match: {hosts: \(Self.list([host.pattern])), methods: [\(methodText)], paths: \(Self.list([leaf.pattern]))}"
            ]
            switch host.host.tunnels {
            case .none: break
            case .intercepted: lines.append("connect: intercept")
            case .verified: lines.append("connect: verify")
            case .relayed: lines.append("connect: tunnel")
            }
            let file = rules.schema.map { self.addSchema($0, name) }
            self.routeLines.append("  - name: \(name.yamlQuoted)")
            self.routeLines += (lines + rules.lines(schemaFile: file)).map { "    \($0)" }
            self.routes += 1
        }
    }

    private mutating func writeTunnels(_ mode: String, _ hosts: [LearnedTrust.Named]) {
        guard !hosts.isEmpty else { return }
        self.routeLines += [
            "  # What is in these tunnels was not seen: their clients pin, sent nothing, or speak another protocol.",
            "  - name: tunnels-\(mode)", "    match: {hosts: \(Self.list(hosts.map(\.pattern)))}",
            "    connect: \(mode)",
        ]
        self.routes += 1
    }

    /// Adds a schema file.
    ///
    /// - Returns: the path of the file, as the configuration writes it.
    private mutating func addSchema(_ schema: Parameter, _ name: String) -> String {
        var entries: [Parameter.Entry] = [
            Parameter.Entry("$schema", "https://json-schema.org/draft/2020-12/schema")
        ]
        if case .dictionary(let rest) = schema { entries += rest }
        let bytes = (try? JSONWriter.write(.dictionary(entries), options: .pretty)) ?? []
        let file = SchemaFile(name: "\(name).json", text: String(decoding: bytes, as: UTF8.self) + "\n")
        self.schemas.append(file)
        let path = "\(self.folder)/\(file.name)"
        return path.hasPrefix("env:") || path.hasPrefix("file:") ? "./\(path)" : path
    }
}
