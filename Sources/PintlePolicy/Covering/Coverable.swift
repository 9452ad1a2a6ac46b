// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

extension HostPattern: Coverable {
    var coverKeys: [CoverKey] { [.host(self.host, port: self.port)] }

    /// Exact: the pattern is covered by those that are filed in one of these forms, and by no others.
    func coveringKeys(_ lengths: [Int]) -> [CoverKey] {
        var hosts = [Host.any]
        switch self.host {
        case .any: break
        case .exact(let name), .suffix(let name): hosts += [self.host] + Self.suffixes(of: name)
        case .network(let network):
            for length in lengths where length <= network.prefixLength {
                hosts.append(.network(CIDR(masking: network.address, prefixLength: length)))
            }
        }
        let everyPort = hosts.map { CoverKey.host($0, port: nil) }
        guard let port = self.port else { return everyPort }
        return everyPort + hosts.map { .host($0, port: port) }
    }

    /// The suffixes that have the name below them.
    private static func suffixes(of name: String) -> [Host] {
        name.utf8.indices.filter { name.utf8[$0] == UInt8(ascii: ".") }
            .map { Host.suffix(String(name[name.utf8.index(after: $0)...])) }
    }
}

extension DestinationEntry.Subject: Coverable {
    var coverKeys: [CoverKey] {
        switch self {
        case .pattern(let pattern): pattern.coverKeys
        case .list(let name): [.list(name)]
        }
    }

    func coveringKeys(_ lengths: [Int]) -> [CoverKey] {
        switch self {
        case .pattern(let pattern): pattern.coveringKeys(lengths)
        case .list: self.coverKeys
        }
    }
}

extension PathPattern: Coverable {
    var coverKeys: [CoverKey] {
        if self.isSubtree { return [.subtree(self.prefix[...])] }
        return [.path(self.allTokens)] + (self.tokens.isEmpty ? [] : [.starred(self.prefix[...])])
    }

    func coveringKeys(_ lengths: [Int]) -> [CoverKey] { Self.keys(covering: self.prefix, self.tokens, lengths) }

    /// - Parameters:
    ///   - prefix: the bytes before the first star.
    ///   - tokens: the rest.
    static func keys(covering prefix: [UInt8], _ tokens: [Token], _ lengths: [Int]) -> [CoverKey] {
        let beginnings = lengths.prefix { $0 <= prefix.count }.map { prefix.prefix($0) }
        let wider = beginnings.map { CoverKey.subtree($0) }
        // Only a path without stars can match a pattern that is no subtree.
        let starred = tokens.isEmpty ? beginnings.map { CoverKey.starred($0) } : []
        return [.path(prefix.map { .byte($0) } + tokens)] + wider + starred
    }
}

/// A form of the values of a field, or of the names of clients.
struct NamedForm: Coverable {
    /// The name of the field, in lower case, or the kind of the names.
    let name: String
    let form: Glob

    var coverKeys: [CoverKey] {
        let exact = CoverKey.form(self.name, self.form.parts)
        if self.form.isExact { return [exact] }
        if self.form.takesAnything { return [.everyForm(self.name)] }
        return [exact, .beginning(self.name, self.form.beginning)]
    }

    func coveringKeys(_ lengths: [Int]) -> [CoverKey] {
        let keys: [CoverKey] = [.form(self.name, self.form.parts), .everyForm(self.name)]
        // Only one text can match a form that is another.
        guard self.form.isExact else { return keys }
        let text = self.form.beginning
        return keys + lengths.prefix { $0 <= text.count }.map { .beginning(self.name, text.prefix($0)) }
    }
}

extension HeaderPattern {
    /// The form of the value, with the name.
    var namedForm: NamedForm { NamedForm(name: self.name.lowercased(), form: self.form) }
}

/// Tables for the clients that rules are for.
struct ClientCovers {
    private var users = CoverTable()
    private var tags = CoverTable()

    mutating func insert(_ clients: NamedClients?, rule: Int) {
        self.users.insert((clients?.users ?? []).map { NamedForm(name: "", form: $0) }, rule: rule)
        self.tags.insert((clients?.tags ?? []).map { NamedForm(name: "", form: $0) }, rule: rule)
    }

    /// The rules among which are all that are for these clients, by users and by tags.
    func candidates(covering clients: NamedClients?) -> [CoverCandidates] {
        [(self.users, clients?.users), (self.tags, clients?.tags)].map { table, forms in
            table.candidates(
                coveringAll: (forms ?? []).map { table.keys(covering: NamedForm(name: "", form: $0)) })
        }
    }
}
