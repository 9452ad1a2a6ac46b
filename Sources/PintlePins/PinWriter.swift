// SPDX-License-Identifier: Apache-2.0

internal import PintleTrust

/// The lines of a document that is being written, and the facts that its format cannot express.
struct PinWriter {
    let format: PinFormat
    /// True if comments are left out.
    let isBare: Bool
    var lines: [String] = []
    private(set) var losses: [String] = []
    private var known: Set<String> = []
    /// The name of the set that each entry written so far belongs to.
    private var owners: [PinnedHost: String] = [:]

    init(format: PinFormat, isBare: Bool) {
        self.format = format
        self.isBare = isBare
    }

    /// Records a lost fact, once.
    mutating func lose(_ what: String) {
        if self.known.insert(what).inserted { self.losses.append(what) }
    }

    /// Returns a set's notes about facts that the format cannot express; if comments are left out, none, and the facts are
    /// lost.
    mutating func notes(of set: PinSet, _ keys: Set<Note.Key>) -> [String] {
        guard self.isBare else { return Note.texts(of: set, keys) }
        for key in Note.Key.allCases where keys.contains(key) {
            guard let value = Note.value(of: key, in: set) else { continue }
            self.lose("\(set.nameOrHost): \(key.rawValue) \(value): \(self.format.rawValue) has no place for it")
        }
        return []
    }

    /// Returns the date of an expiry, for formats without a time of day.
    mutating func day(of set: PinSet) -> String? {
        guard let expires = set.expires else { return nil }
        if !expires.isStartOfDay {
            self.lose("\(set.nameOrHost): the time of \(expires): the pins end with the day before, \(expires.day)")
        }
        return expires.day
    }

    /// Records the loss of certificates, in every format but folders of certificates and Pintle's own.
    mutating func loseCertificates(of set: PinSet) {
        guard !set.certificates.isEmpty else { return }
        let count = set.certificates.count == 1 ? "a certificate" : "\(set.certificates.count) certificates"
        let rest = set.comparesCertificates ? ", where whole certificates were compared" : ""
        self.lose("\(set.nameOrHost): \(count): \(self.format.rawValue) has the keys alone\(rest)")
    }

    /// Returns the hosts of a set as names that may have names below them, for formats without ports and patterns.
    ///
    /// - Parameter scopes: the scopes that the format can express; others become `.itselfAndBelow`.
    /// - Throws: `.notCarried` for networks, for `*`, and if another set has the entry of a name already.
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
            // If the format marks the scope on the entry of a name, the name has one entry for all scopes.
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
    /// Throws if a host has two sets, which formats with one entry per host cannot express.
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
