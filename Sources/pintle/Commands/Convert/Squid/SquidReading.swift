// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy

/// Reads the lists of a configuration off the table of Squid's decisions.
struct SquidReading {
    private let table: SquidTable
    private let file: String
    private(set) var result: Conversion
    private var needsPassword = false
    /// Classes of clients that may do anything at all, and ports that any request may go to, by CONNECT or without.
    private var clients: [Set<String>] = []
    private var ports: [Bool: [SquidTable.Class<ClosedRange<Int>>]] = [:]

    /// The most combinations that are tabulated, several times.
    private static let limit = 200_000
    /// The most comparisons of a combination with a condition of a rule.
    private static let workLimit = 200_000_000

    init(_ table: SquidTable, file: String, into result: Conversion) {
        (self.table, self.file, self.result) = (table, file, result)
    }

    mutating func run(passwords: String?) throws(ConversionError) {
        guard self.table.count <= Self.limit else {
            throw self.refusal("its lists overlap in \(self.table.count) ways; at most \(Self.limit) are compared")
        }
        guard self.table.count * self.table.conditions <= Self.workLimit else {
            throw self.refusal(
                "its lists overlap in \(self.table.count) ways, and its rules have \(self.table.conditions) conditions; at "
                    + "most \(Self.workLimit) pairs of them are compared")
        }
        self.needsPassword = self.table.asksForPasswords && self.passwordsMatter
        self.readUsers(passwords)
        self.clients = self.table.clients.map(\.lists).filter { client in
            self.table.names.contains { name in
                self.table.addresses.contains { address in
                    [true, false].contains { isConnect in
                        self.table.ports.contains {
                            self.allows(client, name.lists, address.lists, $0.lists, isConnect)
                        }
                    }
                }
            }
        }
        guard !self.clients.isEmpty else { throw self.nothingAllowed }
        let allowed = Set(self.clients)
        self.result.policy.clients = AddressSpan.networks(
            self.table.clients.filter { allowed.contains($0.lists) }.flatMap(\.members)
        ).map(\.description)
        try self.readPorts()
        try self.readDestinations()
    }

    private func allows(
        _ client: Set<String>, _ name: Set<String>, _ address: Set<String>, _ port: Set<String>, _ isConnect: Bool,
        password: Bool? = nil
    ) -> Bool {
        self.table.allows(
            .init(
                client: client, name: name, address: address, port: port, isConnect: isConnect,
                isAuthenticated: password ?? self.needsPassword))
    }

    /// The reason why nothing is allowed: the file's own rules, or the permissions that were left out.
    private var nothingAllowed: ConversionError {
        let lost = self.result.remarks.filter { $0.effect == .stricter && $0.line != nil }
        guard !lost.isEmpty else { return self.refusal("its rules allow nothing") }
        let reason = self.refusal("the rules that can be carried allow nothing")
        return ConversionError(.incomplete, lines: reason.lines + lost.map { $0.text(in: self.file) })
    }

    private func refusal(_ text: String) -> ConversionError {
        ConversionError(.incomplete, file: self.file, line: nil, "nothing is written: \(text)")
    }

    // MARK: Users

    /// True if a password makes a difference to any request.
    private var passwordsMatter: Bool {
        self.table.contains { self.table.allows($0) != self.table.allows($0.authenticated) }
    }

    private mutating func readUsers(_ file: String?) {
        let realm = self.result.policy.users?.realm
        self.result.policy.users = nil
        guard self.needsPassword else { return }
        self.result.policy.users = .init(realm: realm, file: file ?? "users.htpasswd")
        self.result.note(
            .leftOut, nil,
            file == nil
                ? "there is no file of users; make users.htpasswd with htpasswd -B"
                : "users with hashes other than bcrypt are refused; make them anew with htpasswd -B")
        if self.table.contains({ self.table.allows($0) }) {
            self.result.note(
                .stricter, nil, "some requests need no password in Squid; with basic_auth every request needs one")
        }
    }

    // MARK: Ports

    private mutating func readPorts() throws(ConversionError) {
        for isConnect in [true, false] {
            let ports = self.table.ports.filter { port in
                self.clients.contains { client in
                    self.table.names.contains { name in
                        self.table.addresses.contains {
                            self.allows(client, name.lists, $0.lists, port.lists, isConnect)
                        }
                    }
                }
            }
            let isExposed = self.result.policy.listen.contains { (try? ListenAddress($0))?.isExposed == true }
            let choice = SquidPorts(Pieces.joined(ports.flatMap(\.members)), isConnect: isConnect, isExposed: isExposed)
            guard let text = choice.text else {
                throw self.refusal(
                    isConnect
                        ? "its rules allow no CONNECT, and connect_ports cannot be empty"
                        : "its rules allow CONNECT alone, and ports cannot be empty")
            }
            let value = ConvertedPolicy.Value(text, choice.comment)
            if isConnect { self.result.policy.connectPorts = value } else { self.result.policy.ports = value }
            for port in choice.denied { self.result.policy.deny.append(.init("*:\(port)", "not among the ports")) }
            if !choice.leftOut.isEmpty {
                self.result.note(
                    .stricter, nil,
                    "\(isConnect ? "connect_ports" : "ports") has no ranges; left out: \(choice.leftOut.joined(separator: ", "))"
                )
            }
            self.ports[isConnect] = ports
        }
    }

    // MARK: Destinations

    /// True if all clients may send all kinds of requests there.
    private func isOpen(_ name: Set<String>, _ address: Set<String>) -> Bool {
        self.clients.allSatisfy { client in
            [true, false].allSatisfy { isConnect in
                (self.ports[isConnect] ?? []).allSatisfy { self.allows(client, name, address, $0.lists, isConnect) }
            }
        }
    }

    private mutating func readDestinations() throws(ConversionError) {
        let nowhere: Set<String> = []
        let isAllowed = self.isOpen(nowhere, nowhere)
        let open = self.table.names.map { name in self.table.addresses.map { self.isOpen(name.lists, $0.lists) } }
        guard open.contains(where: { $0.contains(true) }) else {
            throw self.refusal(
                "what a client may reach depends on the client or the port, and no destination is open to all of them; "
                    + "Pintle has one list of destinations: write a file for each group of clients")
        }
        try self.noteDifferences(open)
        let plain = self.table.addresses.firstIndex { $0.lists.isEmpty }
        // By address, for hosts on no list; by name, for servers on no list.
        let byAddress = open[0]
        let byName = self.table.names.map { self.isOpen($0.lists, nowhere) }
        var names = NameLists()
        var deniedNames: [Bool] = []
        var networks: (allow: [AddressSpan], deny: [AddressSpan]) = ([], [])
        self.result.policy.fallback = .init(isAllowed ? "allow" : "deny")
        self.result.policy.privateAddresses = .init("allow", "as in Squid, whose rules name networks")
        for (index, group) in self.table.names.enumerated() {
            // A denial that an allowed address would undo.
            let isDenied = zip(byAddress, open[index]).contains { $0 && !$1 }
            deniedNames.append(isDenied && !byName[index])
            names.add(
                group.members, isOpen: byName[index], isReachable: open[index].contains(true), isDenied: isDenied)
        }
        for (index, group) in self.table.addresses.enumerated() where index != plain {
            // A name that is allowed leads to no address that is not.
            let isDenied =
                isAllowed
                ? !byAddress[index] : zip(byName, open).contains { $0 && !$1[index] }
            if isDenied { networks.deny += group.members }
            if !isAllowed, byAddress[index] { networks.allow += group.members }
        }
        let (allow, deny) = try names.patterns(isAllowed: isAllowed, self.file)
        self.result.policy.allow += (allow + AddressSpan.networks(networks.allow).map(\.description)).map { .init($0) }
        self.result.policy.deny += (deny + AddressSpan.networks(networks.deny).map(\.description)).map { .init($0) }
        try self.check(open, byName, deniedNames, networks, isAllowed)
    }

    /// Compares each pair of a name and an address with the lists: denials first, then permissions, then the default.
    private func check(
        _ open: [[Bool]], _ byName: [Bool], _ deniedNames: [Bool],
        _ networks: (allow: [AddressSpan], deny: [AddressSpan]), _ isAllowed: Bool
    ) throws(ConversionError) {
        let denied = Set(networks.deny)
        let allowed = Set(networks.allow)
        for (name, row) in open.enumerated() {
            for (address, isOpen) in row.enumerated() {
                let members = self.table.addresses[address].members
                let isDenied = deniedNames[name] || members.first.map(denied.contains) ?? false
                let isListed = members.first.map(allowed.contains) ?? false
                let verdict =
                    !isDenied && (isAllowed ? byName[name] || name == 0 : byName[name] && name > 0 || isListed)
                guard verdict != isOpen else { continue }
                throw self.refusal(
                    "the order of its rules about names and addresses cannot be expressed: in Pintle denials come before "
                        + "permissions, and a name or an address is enough for either"
                        + self.lines(of: self.table.names[name].lists.union(self.table.addresses[address].lists)))
            }
        }
    }

    private func lines(of lists: Set<String>) -> String {
        lists.isEmpty ? "" : " (the lists \(lists.sorted().joined(separator: ", ")))"
    }

    /// Tells of requests that Squid allows to some clients, or on some ports, alone.
    private mutating func noteDifferences(_ open: [[Bool]]) throws(ConversionError) {
        for (name, row) in open.enumerated() {
            for (address, isOpen) in row.enumerated() where !isOpen {
                for client in self.clients {
                    for isConnect in [true, false] {
                        for port in self.ports[isConnect] ?? [] {
                            let question = SquidTable.Question(
                                client: client, name: self.table.names[name].lists,
                                address: self.table.addresses[address].lists, port: port.lists, isConnect: isConnect,
                                isAuthenticated: self.needsPassword)
                            guard self.table.allows(question) else { continue }
                            self.result.note(
                                .stricter, self.table.rule(for: question)?.line,
                                "http_access allow is for some clients or ports alone; in Pintle all clients share the "
                                    + "destinations that all of them may reach")
                            return
                        }
                    }
                }
            }
        }
    }
}

/// Names that are open, and names that are not.
private struct NameLists {
    private var open: [HostPattern] = []
    private var closed: [HostPattern] = []
    /// Names that are open at some address at least.
    private var reachable: [HostPattern] = []
    /// Names that are denied whatever their addresses are.
    private var denied: Set<HostPattern.Host> = []

    mutating func add(_ patterns: [HostPattern], isOpen: Bool, isReachable: Bool, isDenied: Bool) {
        if isOpen { self.open += patterns } else { self.closed += patterns }
        if isReachable { self.reachable += patterns }
        if !isOpen, isDenied { self.denied.formUnion(patterns.map(\.host)) }
    }

    /// The lists of a configuration: those that differ from the default, and exceptions from those.
    ///
    /// - Throws: if a name is open, at some address at least, within a suffix that is denied.
    func patterns(isAllowed: Bool, _ file: String) throws(ConversionError) -> (allow: [String], deny: [String]) {
        let opened = Set(self.open.map(\.host))
        let denied =
            isAllowed
            ? self.closed
            : self.closed.filter { closed in
                self.denied.contains(closed.host)
                    || closed.selfAndSuffixes.dropFirst().contains(where: opened.contains)
            }
        let hosts = Set(denied.map(\.host))
        if let inner = self.reachable.first(where: { $0.selfAndSuffixes.contains(where: hosts.contains) }) {
            throw ConversionError(
                .incomplete, file: file, line: nil,
                "nothing is written: \(inner) is allowed within a suffix that is denied, and in Pintle denials come first"
            )
        }
        return (isAllowed ? [] : self.open.map(\.description), denied.map(\.description))
    }
}

extension SquidTable {
    /// True if a question without a password has the property.
    fileprivate func contains(_ property: (Question) -> Bool) -> Bool {
        self.clients.contains { client in
            self.names.contains { name in
                self.addresses.contains { address in
                    self.ports.contains { port in
                        [true, false].contains { isConnect in
                            property(
                                Question(
                                    client: client.lists, name: name.lists, address: address.lists, port: port.lists,
                                    isConnect: isConnect, isAuthenticated: false))
                        }
                    }
                }
            }
        }
    }
}

extension SquidTable.Question {
    fileprivate var authenticated: SquidTable.Question {
        var question = self
        question.isAuthenticated = true
        return question
    }
}
