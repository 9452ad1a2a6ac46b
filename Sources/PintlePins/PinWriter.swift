// SPDX-License-Identifier: Apache-2.0

internal import PintleTrust

/// The lines of a document while it is written, and what it cannot say.
struct PinWriter {
    let format: PinFormat
    /// Whether comments are left out.
    let isBare: Bool
    var lines: [String] = []
    private(set) var losses: [String] = []
    /// The sets that the entries written so far belong to.
    private var owners: [PinnedHost: String] = [:]

    init(format: PinFormat, isBare: Bool) {
        self.format = format
        self.isBare = isBare
    }

    /// Writes down what is not carried, once.
    mutating func lose(_ what: String) {
        if !self.losses.contains(what) { self.losses.append(what) }
    }

    /// The notes of a set for what the format has no words for; none where comments are left out.
    mutating func notes(of set: PinSet, _ keys: Set<Note.Key>) -> [String] {
        guard self.isBare else { return Note.texts(of: set, keys) }
        for key in Note.Key.allCases where keys.contains(key) {
            guard let value = Note.value(of: key, in: set) else { continue }
            self.lose("\(set.nameOrHost): \(key.rawValue) \(value): \(self.format.rawValue) has no place for it")
        }
        return []
    }

    /// The date of an expiry, for formats without a time of day.
    mutating func day(of set: PinSet) -> String? {
        guard let expires = set.expires else { return nil }
        if !expires.isStartOfDay {
            self.lose("\(set.nameOrHost): the time of \(expires): the pins end with the day before, \(expires.day)")
        }
        return expires.day
    }

    /// What every format but folders of certificates and Pintle's own loses.
    mutating func loseCertificates(of set: PinSet) {
        guard !set.certificates.isEmpty else { return }
        let count = set.certificates.count == 1 ? "a certificate" : "\(set.certificates.count) certificates"
        let rest = set.comparesCertificates ? ", where whole certificates were compared" : ""
        self.lose("\(set.nameOrHost): \(count): \(self.format.rawValue) has the keys alone\(rest)")
    }

    /// The hosts of a set as names that may have names below them, for formats without ports and patterns.
    ///
    /// - Parameter scopes: the scopes that the format can say; what it cannot becomes `.itselfAndBelow`.
    /// - Throws: `.notCarried` for networks, for `*`, and where another set has the entry of a name already.
    mutating func names(
        of set: PinSet, number: Int, scopes: Set<PinnedHost.Scope>
    ) throws(PinFormatError) -> [PinnedHost] {
        guard !set.hosts.isEmpty else {
            let host = PinnedHost.unknown(number)
            self.lose("the hosts are not known: \(host.name) stands where they belong; name them with --host")
            return [host]
        }
        var hosts: [PinnedHost] = []
        for host in set.hosts {
            let spelling = host.spellings.joined(separator: ", ")
            guard host.isName else {
                throw PinFormatError(
                    .notCarried,
                    "\(set.nameOrHost): \(self.format.rawValue) has pins for names only, not for \(spelling); take it "
                        + "out of the hosts first")
            }
            var written = host
            if host.port != nil {
                written.port = nil
                self.lose("\(set.nameOrHost): the port of \(spelling): the pins become those of every port")
            }
            if !scopes.contains(host.scope) {
                written.scope = .itselfAndBelow
                let now = "\(host.name) and everything below it"
                self.lose("\(set.nameOrHost): \(spelling) alone: \(self.format.rawValue) has the pins for \(now)")
            }
            hosts.append(written)
        }
        let written = PinnedHost.merged(hosts)
        for host in written {
            // Where a scope is a mark on the name's entry, there is one entry for all scopes.
            let entry = scopes.contains(.oneLabelBelow) ? host : PinnedHost(host.name)
            guard let owner = self.owners.updateValue(set.nameOrHost, forKey: entry) else { continue }
            throw PinFormatError(
                .notCarried,
                "\(host.name) has two sets of pins, \(owner) and \(set.nameOrHost), whose ports or names below it differ; "
                    + "\(self.format.rawValue) has one for a name: put them together first")
        }
        return written
    }
}

extension PinSet {
    /// Stops where a host has two sets, which formats with an entry for each host cannot say.
    static func demandOwnHosts(_ sets: [PinSet], _ format: PinFormat) throws(PinFormatError) {
        var owners: [String: String] = [:]
        for set in sets {
            for spelling in set.hosts.flatMap(\.spellings) {
                guard let owner = owners.updateValue(set.nameOrHost, forKey: spelling) else { continue }
                throw PinFormatError(
                    .notCarried,
                    "\(spelling) has two sets of pins, \(owner) and \(set.nameOrHost); \(format.rawValue) has one for a "
                        + "host: put them together first")
            }
        }
    }
}
