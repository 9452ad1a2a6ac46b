// SPDX-License-Identifier: Apache-2.0

internal import PintleTrust

/// Android's `network-security-config`: a `domain-config` has domains and one `pin-set`, which nested ones inherit.
enum AndroidFormat {
    static func read(_ bytes: [UInt8], _ file: String) throws(PinFormatError) -> PinFormat.Content {
        let tree = try PinFileTree(bytes, file: file)
        guard tree.root.name == "network-security-config" else {
            throw PinFormatError(
                file: file, line: tree.root.line,
                "the document's element is \(tree.root.name.shown), not network-security-config")
        }
        var reader = AndroidReader(file: file, notes: try tree.notes(file))
        for element in tree.root.children {
            if element.name == "domain-config" {
                try reader.read(element)
            } else {
                reader.remark(element)
            }
        }
        try reader.notes.demandEnd()
        return reader.content
    }

    static func write(_ sets: [PinSet], _ writer: inout PinWriter) throws(PinFormatError) {
        try PinSet.demandOwnHosts(sets, .android)
        writer.lines = ["<?xml version=\"1.0\" encoding=\"utf-8\"?>", "<network-security-config>"]
        for (number, set) in sets.enumerated() {
            writer.loseCertificates(of: set)
            writer.lines.append("    <domain-config>")
            let notes = writer.notes(of: set, [.policy, .onExpiry, .maxAge, .reportURIs, .enforcement])
            writer.lines += notes.map { "        <!-- \($0) -->" }
            for host in try writer.names(of: set, number: number, scopes: [.itself, .itselfAndBelow]) {
                let isWide = host.scope == .itselfAndBelow
                writer.lines.append("        <domain includeSubdomains=\"\(isWide)\">\(host.name)</domain>")
            }
            let expiration = writer.day(of: set).map { " expiration=\"\($0)\"" } ?? ""
            writer.lines.append("        <pin-set\(expiration)>")
            writer.lines += set.pins.map { "            <pin digest=\"SHA-256\">\($0.base64)</pin>" }
            writer.lines += ["        </pin-set>", "    </domain-config>"]
        }
        writer.lines.append("</network-security-config>")
    }
}

private struct AndroidReader {
    let file: String
    var notes: Notes
    var content = PinFormat.Content(sets: [], remarks: [])

    init(file: String, notes: Notes) {
        self.file = file
        self.notes = notes
    }

    mutating func remark(_ element: PinFileElement) {
        self.content.remarks.append("\(self.file):\(element.line): <\(element.name)> is not about pins")
    }

    /// Reads an element and those within it. The scanner limits the depth, and this does not recurse.
    mutating func read(_ element: PinFileElement) throws(PinFormatError) {
        var waiting: [(element: PinFileElement, inherited: PinSet?)] = [(element, nil)]
        while let (element, inherited) = waiting.popLast() {
            let set = try self.pinSet(of: element) ?? inherited
            try self.add(set, element)
            for key in element.attributes.keys.sorted() where key == "cleartextTrafficPermitted" {
                self.content.remarks.append("\(self.file):\(element.line): \(key) is not about pins")
            }
            for child in element.children.reversed() {
                switch child.name {
                case "domain", "pin-set": break
                case "domain-config": waiting.append((child, set))
                default: self.remark(child)
                }
            }
        }
    }

    private mutating func add(_ pinned: PinSet?, _ element: PinFileElement) throws(PinFormatError) {
        var hosts: [PinnedHost] = []
        for domain in element.children("domain") {
            let isWide = try self.truth(domain.attributes["includeSubdomains"] ?? "false", domain)
            hosts.append(
                try PinReader.host(
                    domain.text.trimmed, isWide ? .itselfAndBelow : .itself, file: self.file, line: domain.line))
        }
        guard var set = pinned else {
            let names = hosts.map(\.name).joined(separator: ", ")
            self.content.remarks.append("\(self.file):\(element.line): \(names): there are no pins for it")
            return
        }
        guard !hosts.isEmpty else {
            throw PinFormatError(
                file: self.file, line: element.line, "the domain-config has no domain; name whom it is for")
        }
        let lastLine = element.children("pin-set").first?.line ?? element.children("domain").last?.line ?? element.line
        try self.notes.apply(upTo: lastLine, to: &set)
        set.hosts = PinnedHost.merged(hosts)
        self.content.sets.append(set)
    }

    private func pinSet(of element: PinFileElement) throws(PinFormatError) -> PinSet? {
        let found = element.children("pin-set")
        guard let element = found.first else { return nil }
        guard found.count == 1 else {
            throw PinFormatError(file: self.file, line: found[1].line, "a domain-config has one pin-set")
        }
        var pins: [Pin] = []
        for child in element.children {
            guard child.name == "pin" else {
                throw PinFormatError(
                    file: self.file, line: child.line, "\(child.name.shown) stands where <pin> is due")
            }
            let digest = child.attributes["digest"] ?? ""
            guard digest.uppercased() == "SHA-256" else {
                throw PinFormatError(
                    file: self.file, line: child.line,
                    "the digest is \(digest.shown); Android has SHA-256 alone, give the SHA-256 pin of the same key")
            }
            pins.append(try PinReader.pin(base64: child.text.trimmed, file: self.file, line: child.line))
        }
        guard !pins.isEmpty else { throw PinFormatError(file: self.file, line: element.line, "the pin-set has no pin") }
        var set = PinSet(pins: pins)
        if let expiration = element.attributes["expiration"] {
            set.expires = try PinReader.day(expiration, file: self.file, line: element.line)
        }
        return set
    }

    private func truth(_ text: String, _ element: PinFileElement) throws(PinFormatError) -> Bool {
        switch text {
        case "true": return true
        case "false": return false
        default:
            throw PinFormatError(
                file: self.file, line: element.line, "includeSubdomains is true or false, not \(text.shown)")
        }
    }
}
