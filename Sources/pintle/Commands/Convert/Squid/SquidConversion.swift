// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy

/// Makes a configuration of a squid.conf.
///
/// Squid's rules are a list in which the first match decides; Pintle has clients, ports, and destinations whose denials come
/// first. So the decisions of the list are tabulated (``SquidTable``), and the lists of the configuration are read off the table.
struct SquidConversion {
    let file: SquidFile
    let surroundings: LoaderEnvironment
    private var lists = SquidACL.predefined
    /// The lines of `http_access`. Their lists may have further lines below, which count for the rules above, too.
    private var statements: [Statement] = []
    private var result = Conversion(policy: ConvertedPolicy())
    private var passwords: String?

    private var listeners: Set<String> = []

    private struct Statement {
        let isAllowing: Bool
        /// The names of lists.
        let terms: [(name: String, isNegated: Bool)]
        let line: Int
    }

    /// The largest file with values of a list.
    private static let listLimit = 16 << 20

    init(_ file: SquidFile, _ surroundings: LoaderEnvironment) { (self.file, self.surroundings) = (file, surroundings) }

    /// - Throws: if the file is wrong, or its rules cannot be expressed.
    func converted() throws(ConversionError) -> Conversion {
        var made = self
        return try made.convert()
    }

    private mutating func convert() throws(ConversionError) -> Conversion {
        self.result.policy.head = [
            "The rules of http_access in a squid.conf.",
            "Names are looked up in no reverse tables: a request for an address is judged by the address alone.",
        ]
        for directive in self.file.directives { try self.read(directive) }
        // Squid's fallback is the opposite of the last rule, whatever becomes of that rule here.
        let fallback = self.statements.last.map { !$0.isAllowing } ?? false
        let table: SquidTable
        do throws(Malformed) {
            table = try SquidTable(self.knownRules(), fallback: fallback)
        } catch {
            throw ConversionError(.incomplete, file: self.file.file, line: nil, "nothing is written: \(error.reason)")
        }
        if self.result.policy.listen.isEmpty {
            self.result.policy.listen = ["0.0.0.0:3128"]
            self.result.note(.leftOut, nil, "there is no plain http_port; the listener is Squid's default, port 3128")
        }
        var reading = SquidReading(table, file: self.file.file, into: self.result)
        try reading.run(passwords: self.passwords)
        return reading.result
    }

    /// Leaves out the rules with unknown conditions. Without a permission, less is allowed; without a denial, more.
    private mutating func knownRules() -> [SquidRule] {
        var known: [SquidRule] = []
        for rule in self.statements.map({ self.rule($0) }) where !rule.isIdle {
            let unknown = rule.unknown
            if unknown.isEmpty {
                known.append(rule)
                self.tellValuesLeftOut(of: rule)
            } else {
                self.result.note(
                    rule.isAllowing ? .stricter : .weaker, rule.line,
                    "http_access \(rule.isAllowing ? "allow" : "deny") is left out: \(unknown.joined(separator: ", "))")
            }
        }
        return known
    }

    /// Tells of the values that the lists of a rule lack: the lists hold for fewer hosts.
    private mutating func tellValuesLeftOut(of rule: SquidRule) {
        for term in rule.terms where !term.list.leftOut.isEmpty {
            let values = term.list.leftOut
            let more = values.count > 3 ? " and \(values.count - 3) more" : ""
            self.result.note(
                rule.isAllowing != term.isNegated ? .stricter : .weaker, rule.line,
                "\(term.list.name) lacks \(values.prefix(3).map(\.excerpt).joined(separator: ", "))\(more): dstdomain is "
                    + "for names, and in Pintle an address stands for the names that lead to it, too")
        }
    }

    private func rule(_ statement: Statement) -> SquidRule {
        let terms = statement.terms.map { name, isNegated in
            guard let list = self.lists[name] else { preconditionFailure("BUG: the acl \(name) is gone") }
            return SquidRule.Term(list: list, isNegated: isNegated)
        }
        return SquidRule(isAllowing: statement.isAllowing, terms: terms, line: statement.line)
    }

    // MARK: Directives

    private mutating func read(_ directive: SquidFile.Directive) throws(ConversionError) {
        let words = directive.words.map(\.text)
        switch directive.name {
        case "acl": try self.readList(directive)
        case "http_access": try self.readRule(directive)
        case "http_port": self.readPort(words, directive.line)
        case "auth_param": self.readPasswords(words, directive.line)
        case "via" where words == ["off"]: self.result.policy.omitsVia = true
        case "via": break
        default:
            guard let remark = SquidDirectives.remark(directive.name) else { return }
            self.result.note(remark.effect, directive.line, "\(directive.name): \(remark.words)")
        }
    }

    private mutating func readList(_ directive: SquidFile.Directive) throws(ConversionError) {
        guard directive.words.count >= 2 else { throw self.malformed(directive, "acl has a name and a type") }
        let (name, type) = (directive.words[0].text, directive.words[1].text)
        var values: [String] = []
        for word in directive.words.dropFirst(2) {
            if word.isQuoted {
                values += try self.values(of: word.text, directive)
            } else if !["-n", "-i", "+i", "-m", "--"].contains(word.text) {
                values.append(word.text)
            }
        }
        let condition = SquidACL.condition(type, values)
        if let known = self.lists[name]?.type, SquidACL.predefined[name] == nil || known == type {
            guard known == type else {
                throw self.malformed(directive, "acl \(name) is of the type \(known) above, and \(type) here")
            }
            self.lists[name]?.add(condition)
        } else {
            self.lists[name] = SquidACL(name: name, type: type, condition: condition)
        }
        self.lists[name]?.leftOut += SquidACL.leftOut(type, values)
    }

    /// Values in a file: one a line, with comments.
    private func values(of path: String, _ directive: SquidFile.Directive) throws(ConversionError) -> [String] {
        let bytes: [UInt8]
        do throws(LoaderEnvironment.ReadingError) {
            bytes = try self.surroundings.read(path, Self.listLimit)
        } catch {
            throw ConversionError(
                .incomplete, file: self.file.file, line: directive.line, error.words(for: path, limit: Self.listLimit))
        }
        let values = try SquidFile(bytes, file: path)
        return values.directives.map(\.name)
    }

    private mutating func readRule(_ directive: SquidFile.Directive) throws(ConversionError) {
        guard let action = directive.words.first?.text, action == "allow" || action == "deny" else {
            throw self.malformed(directive, "http_access is followed by allow or deny")
        }
        var terms: [(name: String, isNegated: Bool)] = []
        for word in directive.words.dropFirst() {
            let isNegated = word.text.hasPrefix("!")
            let name = isNegated ? String(word.text.dropFirst()) : word.text
            guard self.lists[name] != nil else {
                throw self.malformed(directive, "there is no acl \(name.debugDescription) above this line")
            }
            terms.append((name, isNegated))
        }
        self.statements.append(Statement(isAllowing: action == "allow", terms: terms, line: directive.line))
    }

    private mutating func readPort(_ words: [String], _ line: Int) {
        guard let place = words.first else { return }
        let modes = words.dropFirst().filter { !$0.contains("=") }
        if let mode = modes.first(where: { ["intercept", "transparent", "tproxy", "accel"].contains($0) }) {
            self.result.note(
                .leftOut, line,
                mode == "accel"
                    ? "http_port accel: give a route the host and an upstream"
                    : "http_port \(mode): listen: [\"capture://ADDR:PORT\"] takes redirected connections")
            return
        }
        if modes.contains("ssl-bump") {
            self.result.note(.leftOut, line, "ssl-bump: name the hosts in interception.hosts, after pintle ca init")
        }
        let address = UInt16(place) == nil ? place : "0.0.0.0:\(place)"
        guard let listener = try? ListenAddress(address) else {
            self.result.note(
                .leftOut, line, "http_port \(place): a listener has an address, as in 10.0.0.1:3128, and no name")
            return
        }
        if self.listeners.insert(listener.description).inserted {
            self.result.policy.listen.append(listener.description)
        }
    }

    private mutating func readPasswords(_ words: [String], _ line: Int) {
        guard words.count >= 3, words[0] == "basic" else {
            self.result.note(.leftOut, line, "auth_param \(words.first ?? ""): Pintle checks passwords by Basic only")
            return
        }
        switch words[1] {
        case "program" where words[2].hasSuffix("ncsa_auth") && words.count > 3: self.passwords = words[3]
        case "program":
            self.result.note(
                .leftOut, line, "auth_param basic program: Pintle asks no helper; make a file of users with htpasswd -B"
            )
        case "realm": self.readRealm(words[2...].joined(separator: " "), line)
        default: break
        }
    }

    private mutating func readRealm(_ realm: String, _ line: Int) {
        let isFit =
            (1...128).contains(realm.utf8.count)
            && realm.utf8.allSatisfy {
                (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
            }
        if isFit {
            self.result.policy.users = .init(realm: realm, file: "")
        } else {
            self.result.note(.leftOut, line, "auth_param basic realm: a realm is 1 to 128 printable ASCII characters")
        }
    }

    private func malformed(_ directive: SquidFile.Directive, _ text: String) -> ConversionError {
        ConversionError(.malformed, file: self.file.file, line: directive.line, text)
    }
}
