// SPDX-License-Identifier: Apache-2.0

/// Reads the rules about clients and destinations.
enum AccessReader {
    static func clients(_ map: StrictMap, of listeners: [ListenAddress]) -> ClientsConfiguration {
        var clients = ClientsConfiguration()
        map.read("allow", into: &clients.allow) { node in
            node.values { $0.parsed { text throws(Malformed) in try CIDR(text) } }
        }
        clients.places = AccessPlaces("clients.allow", map["allow"])
        clients.basicAuth = map["basic_auth"]?.map(.basicAuth).flatMap(Self.basicAuth)
        map.node.context.hasUsers = map["basic_auth"] != nil
        if let capture = listeners.first(where: { $0.use == .capture }) {
            map["basic_auth"]?.report("clients of \(capture) do not know of the proxy, and show it no password")
        }
        return clients
    }

    private static func basicAuth(_ map: StrictMap) -> BasicAuthConfiguration? {
        guard let node = map["users"] else {
            map.node.report(
                "the key \"users\" is missing: the file of their names and bcrypt hashes, as htpasswd -B writes it")
            return nil
        }
        guard let users = Self.passwordFile(node) else { return nil }
        var configuration = BasicAuthConfiguration(users: users)
        map.read("realm", into: &configuration.realm) { node in
            node.parsed { text throws(Malformed) in
                guard (1...128).contains(text.utf8.count),
                    text.utf8.allSatisfy({ (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C })
                else { throw Malformed("must be 1 to 128 printable ASCII characters without quotes and backslashes") }
                return text
            }
        }
        return configuration
    }

    private static func passwordFile(_ node: StrictNode) -> PasswordFile? {
        guard let name = node.nonEmptyString() else { return nil }
        let path = node.resolve(name)
        let bytes: [UInt8]
        do throws(LoaderEnvironment.ReadingError) {
            bytes = try node.context.surroundings.read(path, PasswordFile.byteLimit)
        } catch {
            node.report(error.words(for: path, limit: PasswordFile.byteLimit))
            return nil
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            node.report("the file \(path) is not UTF-8 text")
            return nil
        }
        var isWhole = true
        let users = PasswordFile(text) { line, message in
            isWhole = false
            node.report("\(path), line \(line): \(message)")
        }
        if isWhole, users.count == 0 { node.report("the file \(path) has no users; add one with: htpasswd -B") }
        return isWhole && users.count > 0 ? users : nil
    }

    static func destinations(_ map: StrictMap) -> DestinationsConfiguration {
        var destinations = DestinationsConfiguration()
        map.read("default", into: &destinations.fallback) { $0.choice() }
        map.read("enforcement", into: &destinations.enforcement) { $0.choice(Enforcement.self).map { .some($0) } }
        map.read("allow", into: &destinations.allow) { $0.allowedDestinations() }
        map.read("deny", into: &destinations.deny) { $0.deniedDestinations() }
        map.read("ask", into: &destinations.ask) { $0.namePatterns() }
        destinations.places = AccessPlaces("destinations.allow", map["allow"])
        destinations.places.add("destinations.deny", map["deny"])
        destinations.places.add("destinations.ask", map["ask"])
        destinations.places.add(default: map["default"])
        map.read("private_addresses", into: &destinations.privateAddresses) { $0.choice() }
        map.read("connect_ports", into: &destinations.connectPorts, Self.ports)
        map.read("ports", into: &destinations.ports, Self.ports)
        map.read("resolve", into: &destinations.resolvesNames) { $0.bool() }
        if let node = map["require_sni_match"] { Self.readSNIMatch(node, into: &destinations) }
        return destinations
    }

    private static func readSNIMatch(_ node: StrictNode, into destinations: inout DestinationsConfiguration) {
        guard node.isMap else {
            if node.isList {
                node.report("must be true, false or {allow_absent: [PATTERN, …]}, not a list")
            } else if let isOn = node.bool() {
                destinations.requiresSNIMatch = isOn
            }
            return
        }
        guard let map = node.map(.requireSNIMatch) else { return }
        map.read("allow_absent", into: &destinations.absentSNI) { node in
            guard let patterns = node.hostPatterns() else { return nil }
            if let network = patterns.first(where: { $0.network != nil }) {
                node.report("\"\(network)\" is a network; a tunnel to an address needs no name")
            }
            return patterns
        }
    }

    /// Adds the lists of an included file.
    static func add(_ map: StrictMap, to destinations: inout DestinationsConfiguration) {
        destinations.places.add("destinations.allow", map["allow"], behind: destinations.allow.count)
        destinations.places.add("destinations.deny", map["deny"], behind: destinations.deny.count)
        destinations.places.add("destinations.ask", map["ask"], behind: destinations.ask.count)
        destinations.allow += map["allow"]?.allowedDestinations() ?? []
        destinations.deny += map["deny"]?.deniedDestinations() ?? []
        destinations.ask += map["ask"]?.namePatterns() ?? []
    }

    private static func ports(_ node: StrictNode) -> DestinationsConfiguration.Ports? {
        guard !node.isList else { return node.values { $0.int(1...65_535) }.map { .only($0.map(UInt16.init)) } }
        return node.parsed { text throws(Malformed) in
            switch text {
            case "auto": return .auto
            case "any": return .any
            default:
                guard let port = UInt16(text), port > 0 else {
                    throw Malformed("must be any, auto, or ports from 1 to 65535, as in [443, 8443]")
                }
                return .only([port])
            }
        }
    }
}

extension AccessPlaces {
    fileprivate init(_ list: String, _ node: StrictNode?) {
        self.init()
        self.add(list, node)
    }

    /// Adds the members of a list, which follow `earlier` others.
    fileprivate mutating func add(_ list: String, _ node: StrictNode?, behind earlier: Int = 0) {
        guard let node, !node.isNull else { return }
        let nodes = node.isList ? node.list() ?? [] : [node]
        for (index, node) in nodes.enumerated() { self["\(list)[\(earlier + index)]"] = node.position }
    }

    fileprivate mutating func add(default node: StrictNode?) {
        if let node { self["destinations.default"] = node.position }
    }
}

extension StrictNode {
    /// A list of host patterns, which may be empty; an empty list means no host.
    func hostPatterns() -> [HostPattern]? {
        if self.isEmptyList { return [] }
        return self.values { $0.parsed { text throws(Malformed) in try HostPattern(text) } }
    }

    /// A list of patterns of names. A person cannot tell where an address leads; so rules decide about addresses.
    fileprivate func namePatterns() -> [HostPattern]? {
        if let map = (self.isList ? self.list() ?? [] : [self]).first(where: \.isMap) {
            map.report(
                "a question is about a pattern, and for every client; allow and deny take lists of hosts and name clients"
            )
            return nil
        }
        guard let patterns = self.hostPatterns() else { return nil }
        for network in patterns where network.network != nil {
            self.report("\"\(network)\" is an address or a network, which is never asked about; allow or deny it")
        }
        return patterns
    }

    /// A list of rules: host patterns, each alone or as `{host: PATTERN, users: …, tags: …, reason: TEXT}`, and lists of hosts as
    /// `{list: NAME, …}`.
    fileprivate func deniedDestinations() -> [DestinationEntry]? {
        self.destinations(.deniedDestination) { text throws(Malformed) in
            try HostPattern(text)
        } others: { map, entry in
            map.read("reason", into: &entry.reason) { $0.sentence().map { .some($0) } }
        }
    }

    /// Like ``deniedDestinations()``, with `tcp://HOST:PORT` besides, and without reasons.
    fileprivate func allowedDestinations() -> [DestinationEntry]? {
        self.destinations(.allowedDestination) { text throws(Malformed) in
            try HostPattern(destination: text)
        }
    }

    /// A list of rules, each a pattern alone or a map with these keys; an empty list means no host.
    ///
    /// - Parameter others: reads the keys that only one list has.
    private func destinations(
        _ keys: KeySet, _ read: (String) throws(Malformed) -> HostPattern,
        others: (StrictMap, inout DestinationEntry) -> Void = { _, _ in }
    ) -> [DestinationEntry]? {
        if self.isEmptyList { return [] }
        return self.values { node in
            guard node.isMap else { return node.parsed(read).map { DestinationEntry($0) } }
            guard let map = node.map(keys), let subject = map.subject(read) else { return nil }
            var entry = DestinationEntry(subject)
            entry.clients = NamedClients(map)
            others(map, &entry)
            return entry
        }
    }

    /// Words that fit into a reason phrase (RFC 9112 §4).
    private func sentence() -> String? {
        self.parsed { text throws(Malformed) in
            guard (1...200).contains(text.utf8.count), text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                throw Malformed("must be 1 to 200 printable ASCII characters, which fit into a status line")
            }
            return text
        }
    }
}

extension StrictMap {
    /// The hosts that a rule is about: the pattern that `read` makes of `host`, or the list that `list` names.
    fileprivate func subject(_ read: (String) throws(Malformed) -> HostPattern) -> DestinationEntry.Subject? {
        switch (self["host"], self["list"]) {
        case (let host?, nil): return host.parsed(read).map { .pattern($0) }
        case (nil, let list?): return list.nonEmptyString().map { .list($0) }
        case (nil, nil):
            self.node.report("the key \"host\" is missing, a pattern, or \"list\", the name of a list of hosts")
        case (_?, let list?): list.report("a rule is about a host or a list; make two rules of them")
        }
        return nil
    }
}
