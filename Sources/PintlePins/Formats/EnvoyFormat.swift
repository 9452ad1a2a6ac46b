// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy
internal import PintleTrust

/// `verify_certificate_spki` of Envoy's certificate validation contexts, at any place in a YAML or JSON file.
///
/// Written as secrets, which have names by which a cluster's TLS context refers to them.
enum EnvoyFormat {
    private static let keys = (
        spki: ["verify_certificate_spki", "verifyCertificateSpki"],
        hash: ["verify_certificate_hash", "verifyCertificateHash"]
    )

    static func read(_ bytes: [UInt8], _ file: String) throws(PinFormatError) -> PinFormat.Content {
        let root: LocatedValue
        do throws(ConfigurationError) {
            root = try LocatedValue.read(bytes, file: file)
        } catch {
            throw PinFormatError(error)
        }
        var notes = try Notes(lines: PinReader.lines(try PinReader.text(bytes, file)), file: file)
        var content = PinFormat.Content(sets: [], remarks: [])
        // The YAML reader limits depth and size.
        var waiting: [(value: LocatedValue, name: String?)] = [(root, nil)]
        while let (value, name) = waiting.popLast() {
            switch value {
            case .text: break
            case .list(let elements, _): waiting += elements.reversed().map { ($0, nil) }
            case .map(let entries, _):
                try Self.refuseHashes(entries, file)
                if let entry = entries.first(where: { Self.keys.spki.contains($0.key) }) {
                    var set = PinSet()
                    try notes.apply(upTo: entry.position.line, to: &set)
                    set.name = set.name ?? name.flatMap { $0.isEmpty ? nil : $0 }
                    content.sets.append(set.with(try Self.pins(entry.value, file)))
                }
                // A secret has its name beside its validation context.
                let own = entries.first { $0.key == "name" }.flatMap(\.value.text)
                for entry in entries.reversed() {
                    let isContext = ["validation_context", "validationContext"].contains(entry.key)
                    waiting.append((entry.value, isContext ? own : nil))
                }
            }
        }
        try notes.demandEnd()
        return Self.withoutDefaultNames(content)
    }

    private static func refuseHashes(_ entries: [LocatedValue.Entry], _ file: String) throws(PinFormatError) {
        guard let entry = entries.first(where: { Self.keys.hash.contains($0.key) }) else { return }
        throw PinFormatError(
            file: file, line: entry.position.line,
            "\(entry.key) has digests of whole certificates, which no pin of a key can be computed from, and Envoy "
                + "believes what matches either; convert the certificates themselves, with --from cer")
    }

    private static func pins(_ value: LocatedValue, _ file: String) throws(PinFormatError) -> [Pin] {
        guard case .list(let elements, let position) = value else {
            throw PinFormatError(file: file, line: value.position.line, "a list of base64 digests is due")
        }
        var pins: [Pin] = []
        for element in elements {
            guard let text = element.text else {
                throw PinFormatError(file: file, line: element.position.line, "a base64 digest is due")
            }
            pins.append(try PinReader.pin(base64: text, file: file, line: element.position.line))
        }
        guard !pins.isEmpty else { throw PinFormatError(file: file, line: position.line, "the list has no pin") }
        return pins
    }

    /// Removes names that were only written because a secret must have one: those made from the set's host, or from no
    /// host.
    private static func withoutDefaultNames(_ content: PinFormat.Content) -> PinFormat.Content {
        var content = content
        for index in content.sets.indices {
            var unnamed = content.sets[index]
            unnamed.name = nil
            unnamed.hosts.sort()
            if unnamed.nameOrHost == content.sets[index].name { content.sets[index].name = nil }
        }
        return content
    }

    static func write(_ sets: [PinSet], _ writer: inout PinWriter) {
        // Without a trusted authority Envoy checks no chain: any certificate with the key would be accepted.
        if !writer.isBare {
            writer.lines.append("# Each validation_context also needs trusted_ca, or Envoy verifies no chain.")
        }
        writer.lines += ["static_resources:", "  secrets:"]
        for set in sets {
            writer.loseCertificates(of: set)
            let notes = writer.notes(of: set, Set(Note.Key.allCases).subtracting([.policy]))
            writer.lines += notes.map { "    # \($0)" }
            writer.lines += [
                "    - name: \(set.nameOrHost.yamlQuoted)", "      validation_context:",
                "        verify_certificate_spki:",
            ]
            writer.lines += set.pins.map { "          - \"\($0.base64)\"" }
        }
    }
}
