// SPDX-License-Identifier: Apache-2.0

package import PintleSerialization

/// Reads documents that a configuration names: JSON Schemas and API descriptions, in JSON or YAML.
enum DocumentFile {
    /// The value of the file at `path`: JSON if its name ends in `.json`, else YAML.
    ///
    /// - Throws: the reason, with the file and, if known, the place in it.
    static func read(_ path: String, _ surroundings: LoaderEnvironment) throws(Malformed) -> Parameter {
        let bytes = try Self.bytes(path, surroundings)
        guard path.lowercased().hasSuffix(".json") else { return try Self.yaml(bytes, path, surroundings) }
        do throws(JSONSyntaxError) {
            return try JSONScanner(fragmentsAllowed: true).parse(bytes)
        } catch {
            throw Malformed("the file \(path) is not valid JSON: \(error)")
        }
    }

    /// - Throws: the reason, with the file.
    static func bytes(_ path: String, _ surroundings: LoaderEnvironment) throws(Malformed) -> [UInt8] {
        do throws(LoaderEnvironment.ReadingError) {
            return try surroundings.read(path, YAMLDocument.byteLimit)
        } catch {
            throw Malformed(error.words(for: path, limit: YAMLDocument.byteLimit))
        }
    }

    private static func yaml(
        _ bytes: [UInt8], _ path: String, _ surroundings: LoaderEnvironment
    ) throws(Malformed) -> Parameter {
        let context = LoadingContext(file: path, surroundings: surroundings)
        guard let root = YAMLDocument.compose(bytes, context), let value = root.document() else {
            throw Malformed(context.problems.first?.description ?? "the file \(path) cannot be read")
        }
        return value
    }
}

extension StrictNode {
    /// The node as a document of JSON's types; nil after a key that is no text was reported.
    package func document() -> Parameter? {
        switch self.node.content {
        case .mapping:
            let faults = self.context.problems.count
            guard let entries = self.entries() else { return nil }
            var members: [Parameter.Entry] = []
            for entry in entries {
                guard let value = entry.value.document() else { return nil }
                members.append(Parameter.Entry(entry.key, value))
            }
            return self.context.problems.count == faults ? .dictionary(members) : nil
        case .sequence:
            guard let nodes = self.list() else { return nil }
            let elements = nodes.compactMap { $0.document() }
            return elements.count == nodes.count ? .array(elements) : nil
        case .scalar(let scalar):
            if self.isNull { return .null }
            guard scalar.isPlain else { return .string(scalar.string) }
            return Self.plain(scalar.string)
        }
    }

    /// The value of plain text by YAML's core schema (YAML 1.2.2 §10.3), but for numbers with leading zeros: these are text,
    /// since YAML 1.1 reads them as octal ones.
    private static func plain(_ text: String) -> Parameter {
        switch text {
        case "true", "True", "TRUE": return .bool(true)
        case "false", "False", "FALSE": return .bool(false)
        default: break
        }
        for (prefix, radix) in [("0x", 16), ("0o", 8)] where text.hasPrefix(prefix) {
            // Swift would also take a sign.
            guard text.dropFirst(2).first?.isHexDigit == true else { continue }
            if let number = Int64(text.dropFirst(2), radix: radix) { return .integer(number) }
        }
        guard let number = try? JSONScanner(fragmentsAllowed: true).parse(Array(Self.asJSON(text).utf8)) else {
            return .string(text)
        }
        switch number {
        case .integer, .number, .decimal: return number
        default: return .string(text)
        }
    }

    /// A number in JSON's spelling: without a plus sign, and with digits on both sides of the point. Other text stays no number.
    private static func asJSON(_ text: String) -> String {
        let sign = text.hasPrefix("-") ? "-" : ""
        var rest = text.hasPrefix("-") || text.hasPrefix("+") ? text.dropFirst() : text[...]
        // A second sign would become the first.
        guard rest.first != "-" else { return text }
        if rest.first == ".", rest.dropFirst().first?.isWholeNumber == true { rest = Substring("0\(rest)") }
        guard let point = rest.firstIndex(of: "."), point != rest.startIndex else { return "\(sign)\(rest)" }
        let behind = rest[rest.index(after: point)...]
        guard behind.isEmpty || behind.first == "e" || behind.first == "E" else { return "\(sign)\(rest)" }
        return "\(sign)\(rest[...point])0\(behind)"
    }
}
