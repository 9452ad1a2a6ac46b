// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization
internal import PintleTrust

/// TrustKit's `TSKPinnedDomains`, in a property list of its own or below `TSKConfiguration` in an app's Info.plist.
///
/// A domain has one dictionary, so a set with several hosts is written once for each. Property lists have no order of keys;
/// notes need the XML format.
enum TrustKitFormat {
    static func read(_ bytes: [UInt8], _ file: String) throws(PinFormatError) -> PinFormat.Content {
        let root: PropertyListValue
        do throws(PropertyListError) {
            root = try PropertyListReader.read(bytes)
        } catch {
            throw PinFormatError(file: file, line: nil, "not a property list: \(error)")
        }
        var top = root.member("TSKConfiguration") ?? root
        if case .dictionary = root.member("TSKPinnedDomains") { top = root }
        guard case .dictionary(let domains) = top.member("TSKPinnedDomains") else {
            throw PinFormatError(
                file: file, line: nil, "TSKPinnedDomains is missing, or no dictionary; it has an entry for each domain")
        }
        var reader = try TrustKitReader(bytes, file: file)
        for domain in domains.keys.sorted(by: { (reader.line(of: $0) ?? 0, $0) < (reader.line(of: $1) ?? 0, $1) }) {
            try reader.read(domain, domains[domain] ?? .dictionary([:]))
        }
        try reader.notes.demandEnd()
        if case .dictionary(let members) = top {
            for key in members.keys.sorted() where key.hasPrefix("TSK") && key != "TSKPinnedDomains" {
                reader.content.remarks.append("\(file): \(key) is not about pins")
            }
        }
        return reader.content
    }

    static func write(_ sets: [PinSet], _ writer: inout PinWriter) throws(PinFormatError) {
        try PinSet.demandOwnHosts(sets, .trustkit)
        writer.lines = [
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
            "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" "
                + "\"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">",
            "<plist version=\"1.0\">", "<dict>", "    <key>TSKPinnedDomains</key>", "    <dict>",
        ]
        for (number, set) in sets.enumerated() {
            writer.loseCertificates(of: set)
            if set.pins.count < 2 {
                writer.lose("\(set.nameOrHost): TrustKit refuses to start with a single pin; add one of a backup key")
            }
            let hosts = try writer.names(of: set, number: number, scopes: [.itself, .itselfAndBelow])
            for host in hosts { Self.write(host, set, &writer) }
        }
        writer.lines += ["    </dict>", "</dict>", "</plist>"]
    }

    private static func write(_ host: PinnedHost, _ set: PinSet, _ writer: inout PinWriter) {
        writer.lines += writer.notes(of: set, [.policy, .onExpiry, .maxAge]).map { "        <!-- \($0) -->" }
        let day = writer.day(of: set)
        writer.lines += ["        <key>\(host.name)</key>", "        <dict>"]
        func add(_ key: String, _ value: String) { writer.lines.append("            <key>\(key)</key>\(value)") }
        func list(_ texts: [String]) -> String {
            let lines = texts.map { "                <string>\($0.xmlEscaped)</string>" }
            return (["", "            <array>"] + lines + ["            </array>"]).joined(separator: "\n")
        }
        if let day { add("TSKExpirationDate", "<string>\(day)</string>") }
        if !set.isEnforced { add("TSKEnforcePinning", "<false/>") }
        add("TSKIncludeSubdomains", host.scope == .itselfAndBelow ? "<true/>" : "<false/>")
        add("TSKPublicKeyHashes", list(set.pins.map(\.base64)))
        if !set.reportURIs.isEmpty { add("TSKReportUris", list(set.reportURIs)) }
        writer.lines.append("        </dict>")
    }
}

private struct TrustKitReader {
    let file: String
    /// The lines of the keys in the document, for each name the first one.
    private var lines: [String: Int] = [:]
    var notes: Notes
    var content = PinFormat.Content(sets: [], remarks: [])

    init(_ bytes: [UInt8], file: String) throws(PinFormatError) {
        self.file = file
        guard !bytes.starts(with: Array("bplist".utf8)) else {
            self.notes = Notes([], file: file)
            return
        }
        let tree = try PinFileTree(bytes, file: file)
        self.notes = try tree.notes(file)
        var waiting = [tree.root]
        while let element = waiting.popLast() {
            if element.name == "key" { self.lines[element.text] = self.lines[element.text] ?? element.line }
            waiting += element.children.reversed()
        }
    }

    func line(of domain: String) -> Int? { self.lines[domain] }

    mutating func read(_ domain: String, _ value: PropertyListValue) throws(PinFormatError) {
        let line = self.line(of: domain)
        guard case .dictionary(let members) = value else {
            throw self.problem(domain, nil, "must be a dictionary")
        }
        guard let hashes = members["TSKPublicKeyHashes"] else {
            // A domain without keys must be one that is excluded from its parent's policy.
            guard members["TSKExcludeSubdomainFromParentPolicy"] == .bool(true) else {
                throw self.problem(domain, nil, "TSKPublicKeyHashes is missing")
            }
            self.content.remarks.append(
                "\(self.place(line)): \(domain.shown) is left out of its parent's pins, which no set of pins can say")
            return
        }
        var set = PinSet()
        if let line { try self.notes.apply(upTo: line, to: &set) }
        for key in members.keys.sorted() {
            try self.read(key, members[key] ?? .bool(false), domain, &set)
        }
        set = set.with(try self.pins(hashes, domain))
        let scope: PinnedHost.Scope = members["TSKIncludeSubdomains"] == .bool(true) ? .itselfAndBelow : .itself
        set.hosts = [try PinReader.host(domain, scope, file: self.file, line: line)]
        self.content.sets.append(set)
    }

    private mutating func read(
        _ key: String, _ value: PropertyListValue, _ domain: String, _ set: inout PinSet
    ) throws(PinFormatError) {
        switch key {
        case "TSKPublicKeyHashes": break
        case "TSKIncludeSubdomains":
            guard case .bool = value else { throw self.problem(domain, key, "must be true or false") }
        case "TSKEnforcePinning":
            guard case .bool(let isEnforced) = value else { throw self.problem(domain, key, "must be true or false") }
            set.isEnforced = isEnforced
        case "TSKReportUris": set.reportURIs = try self.texts(value, domain, key)
        case "TSKExpirationDate":
            switch value {
            case .string(let text):
                set.expires = try PinReader.day(text, file: self.file, line: self.line(of: domain))
            case .date(let seconds) where (0..<253_402_300_800).contains(seconds):
                set.expires = UnixTime(seconds: Int64(seconds) / 86_400 * 86_400)
            default: throw self.problem(domain, key, "must be a date, as 2027-01-31")
            }
        default:
            self.content.remarks.append(
                "\(self.place(self.line(of: domain))): \(domain.shown): \(key) is not about pins")
        }
    }

    private func pins(_ value: PropertyListValue, _ domain: String) throws(PinFormatError) -> [Pin] {
        var pins: [Pin] = []
        for text in try self.texts(value, domain, "TSKPublicKeyHashes") {
            pins.append(try PinReader.pin(base64: text, file: self.file, line: self.line(of: domain)))
        }
        guard !pins.isEmpty else { throw self.problem(domain, "TSKPublicKeyHashes", "is empty") }
        return pins
    }

    private func texts(
        _ value: PropertyListValue, _ domain: String, _ key: String
    ) throws(PinFormatError) -> [String] {
        guard case .array(let elements) = value else { throw self.problem(domain, key, "must be an array of strings") }
        var texts: [String] = []
        for element in elements {
            guard case .string(let text) = element else {
                throw self.problem(domain, key, "must be an array of strings")
            }
            texts.append(text)
        }
        return texts
    }

    private func place(_ line: Int?) -> String { line.map { "\(self.file):\($0)" } ?? self.file }

    private func problem(_ domain: String, _ key: String?, _ message: String) -> PinFormatError {
        let subject = key.map { "\(domain.shown): \($0)" } ?? domain.shown
        return PinFormatError(file: self.file, line: self.line(of: domain), "\(subject) \(message)")
    }
}

extension PropertyListValue {
    /// Returns the value of a key; nil if there is none, or this is no dictionary.
    fileprivate func member(_ key: String) -> PropertyListValue? {
        guard case .dictionary(let members) = self else { return nil }
        return members[key]
    }
}
