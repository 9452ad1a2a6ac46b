// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleTrust

/// `Public-Key-Pins` and `Public-Key-Pins-Report-Only` fields, one per line, with or without their names (RFC 7469 §2.1).
enum HPKPFormat {
    private static let name = "Public-Key-Pins"
    private static let reportName = "Public-Key-Pins-Report-Only"
    /// Sixty days in seconds: written if the set has no max-age, since the field must have one, and read as none.
    private static let usualMaxAge = 5_184_000

    static func read(_ bytes: [UInt8], _ file: String) throws(PinFormatError) -> PinFormat.Content {
        let lines = PinReader.lines(try PinReader.text(bytes, file))
        var notes = try Notes(lines: lines, file: file)
        var content = PinFormat.Content(sets: [], remarks: [])
        var index = 0
        while index < lines.count {
            let number = index + 1
            var text = String(lines[index].trimmed)
            index += 1
            guard !text.isEmpty, !text.hasPrefix("#") else { continue }
            // A field that continues in the next line, as logs and documents fold them.
            while index < lines.count, let first = lines[index].first, first.isWhitespace,
                !lines[index].trimmed.isEmpty
            {
                text += " " + lines[index].trimmed
                index += 1
            }
            var field = try HPKPField(text, file: file, line: number)
            content.remarks += field.unknown.map { "\(file):\(number): the directive \($0.shown) is not about pins" }
            var hosts = PinSet()
            try notes.apply(upTo: number, to: &hosts)
            field.set.name = hosts.name
            field.set.expires = hosts.expires
            field.set.onExpiry = hosts.onExpiry
            field.set.hosts = try Self.hosts(hosts.hosts, field, file, number)
            if !hosts.reportURIs.isEmpty { field.set.reportURIs = hosts.reportURIs }
            if field.set.maxAge == Self.usualMaxAge { field.set.maxAge = nil }
            content.sets.append(field.set)
        }
        try notes.demandEnd()
        return content
    }

    private static func hosts(
        _ noted: [PinnedHost], _ field: HPKPField, _ file: String, _ line: Int
    ) throws(PinFormatError) -> [PinnedHost] {
        guard !noted.isEmpty else {
            return field.includesSubdomains ? [PinnedHost(PinnedHost.unknown, .itselfAndBelow)] : []
        }
        guard field.includesSubdomains == Self.includesSubdomains(noted) else {
            throw PinFormatError(
                file: file, line: line,
                "includeSubDomains and the hosts that are noted before it contradict each other; repair one of them")
        }
        return noted
    }

    /// True if the directive applies to every host.
    private static func includesSubdomains(_ hosts: [PinnedHost]) -> Bool {
        !hosts.isEmpty && hosts.allSatisfy { $0.scope == .itselfAndBelow }
    }

    static func write(_ sets: [PinSet], _ writer: inout PinWriter) {
        for set in sets {
            writer.loseCertificates(of: set)
            if !writer.lines.isEmpty { writer.lines.append("") }
            var noted = set
            // The directive alone expresses this case, without a note.
            if set.hosts == [PinnedHost(PinnedHost.unknown, .itselfAndBelow)] { noted.hosts = [] }
            if set.reportURIs.count < 2 { noted.reportURIs = [] }
            writer.lines += writer.notes(of: noted, [.policy, .hosts, .expires, .onExpiry, .reportURIs]).map {
                "# \($0)"
            }
            var directives = set.pins.map { "pin-sha256=\"\($0.base64)\"" }
            directives.append("max-age=\(set.maxAge ?? Self.usualMaxAge)")
            if Self.includesSubdomains(set.hosts) { directives.append("includeSubDomains") }
            if let uri = set.reportURIs.first { directives.append("report-uri=\(FieldSyntax.quoted(uri.utf8))") }
            let name = set.isEnforced ? Self.name : Self.reportName
            writer.lines.append("\(name): \(directives.joined(separator: "; "))")
        }
    }
}

/// One field, parsed.
private struct HPKPField {
    var set = PinSet()
    var includesSubdomains = false
    /// Directives that RFC 7469 does not define.
    var unknown: [String] = []

    init(_ text: String, file: String, line: Int) throws(PinFormatError) {
        var rest = text[...]
        for (name, isEnforced) in [("public-key-pins-report-only:", false), ("public-key-pins:", true)] {
            guard rest.lowercased().hasPrefix(name) else { continue }
            rest = rest.dropFirst(name.count)
            self.set.isEnforced = isEnforced
            break
        }
        var scanner = DirectiveScanner(rest, file: file, line: line)
        var pins: [Pin] = []
        var seen: Set<String> = []
        while let (name, value) = try scanner.next() {
            let key = name.lowercased()
            let isPin = key.hasPrefix("pin-")
            guard isPin || seen.insert(key).inserted else {
                throw PinFormatError(file: file, line: line, "the directive \(name.shown) is there twice")
            }
            switch key {
            case "pin-sha256": pins.append(try PinReader.pin(base64: value ?? "", file: file, line: line))
            case "max-age": self.set.maxAge = try Self.seconds(value, file, line)
            case "includesubdomains": self.includesSubdomains = true
            case "report-uri": self.set.reportURIs = value.map { [$0] } ?? []
            default:
                guard !isPin else {
                    throw PinFormatError(
                        file: file, line: line,
                        "\(name.shown) is no digest that RFC 7469 has; give the SHA-256 pin of the same key, as pin-sha256"
                    )
                }
                self.unknown.append(name)
            }
        }
        guard !pins.isEmpty else {
            throw PinFormatError(
                file: file, line: line, "the field has no pin-sha256; is this a Public-Key-Pins field?")
        }
        guard self.set.maxAge != nil else {
            throw PinFormatError(file: file, line: line, "max-age is missing, without which the field means nothing")
        }
        self.set = self.set.with(pins)
    }

    private static func seconds(_ value: String?, _ file: String, _ line: Int) throws(PinFormatError) -> Int {
        guard let value, value.utf8.allSatisfy(ASCII.isDigit), let seconds = Int(value) else {
            throw PinFormatError(file: file, line: line, "max-age is a number of seconds, not \((value ?? "").shown)")
        }
        guard seconds > 0 else {
            throw PinFormatError(
                file: file, line: line, "max-age=0 takes the pins of a host back; there is nothing to convert")
        }
        return seconds
    }
}

/// A scanner of directives: `name=value; name="quoted"; name`.
private struct DirectiveScanner {
    private var scanner: FieldScanner
    private let file: String
    private let line: Int

    init(_ text: Substring, file: String, line: Int) {
        self.scanner = FieldScanner(Array(text.utf8)[...])
        self.file = file
        self.line = line
    }

    mutating func next() throws(PinFormatError) -> (name: String, value: String?)? {
        repeat { self.scanner.skipSpaces() } while self.scanner.take(";")
        guard !self.scanner.rest.isEmpty else { return nil }
        let bytes = self.scanner.take { !" \t=;".utf8.contains($0) }
        let name = String(decoding: bytes, as: UTF8.self)
        guard ASCII.isToken(bytes) else {
            throw PinFormatError(file: self.file, line: self.line, "\(name.shown) is no name of a directive")
        }
        self.scanner.skipSpaces()
        var value: String?
        if self.scanner.take("=") {
            self.scanner.skipSpaces()
            let isQuoted = self.scanner.isAtQuote
            let word = isQuoted ? self.scanner.quotedString() : Array(self.scanner.take { !" \t;".utf8.contains($0) })
            guard let word else {
                throw PinFormatError(file: self.file, line: self.line, "a quotation mark is not closed")
            }
            value = String(decoding: word, as: UTF8.self)
        }
        self.scanner.skipSpaces()
        guard self.scanner.rest.isEmpty || self.scanner.rest.first == UInt8(ascii: ";") else {
            throw PinFormatError(
                file: self.file, line: self.line, "after the directive \(name.shown) a semicolon is due")
        }
        return (name, value)
    }
}
