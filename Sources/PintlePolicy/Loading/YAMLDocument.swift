// SPDX-License-Identifier: Apache-2.0

internal import Yams

/// Composes the text of a configuration file into a YAML node, within limits.
package enum YAMLDocument {
    /// Size limit of a file in bytes. A thousand routes take a tenth of it.
    package static let byteLimit = 4 << 20
    /// The most nodes that reading may visit; an alias counts as all the nodes that it stands for.
    static let nodeLimit = 500_000
    /// The deepest nesting of nodes.
    static let depthLimit = 64

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Returns the root node; nil after a problem was reported.
    static func compose(_ bytes: [UInt8], _ context: LoadingContext) -> StrictNode? {
        let roots = Self.roots(of: bytes, context) { parser in [try parser.singleRoot()].compactMap { $0 } }
        if roots?.isEmpty == true {
            context.report("the file is empty; it must at least say: version: 1", path: "", at: .start)
        }
        return roots?.first
    }

    /// Returns the root nodes of a file that may have several documents; nil after a problem was reported.
    package static func composeAll(_ bytes: [UInt8], _ context: LoadingContext) -> [StrictNode]? {
        Self.roots(of: bytes, context) { parser in
            var roots: [Node] = []
            while let root = try parser.nextRoot() { roots.append(root) }
            return roots
        }
    }

    private static func roots(
        of bytes: [UInt8], _ context: LoadingContext, _ read: (Parser) throws -> [Node]
    ) -> [StrictNode]? {
        guard bytes.count <= Self.byteLimit else {
            context.report("the file is over \(Self.byteLimit.spelledAsBytes)", path: "", at: nil)
            return nil
        }
        // A byte order mark may precede a document (YAML 1.2.2 §5.2). The parser would count it as a character of the first
        // line, which shifts the columns.
        let bytes = Array(bytes.starts(with: Self.byteOrderMark) ? bytes.dropFirst(3) : bytes[...])
        guard let text = String(validating: bytes, as: UTF8.self) else {
            context.report("the file is not UTF-8 text", path: "", at: nil)
            return nil
        }
        if let reason = AliasGuard.refusal(of: bytes) {
            context.report(reason, path: "", at: nil)
            return nil
        }
        do {
            let nodes = try read(Parser(yaml: text))
            var budget = Self.nodeLimit
            guard nodes.allSatisfy({ Self.isBounded($0, depth: 0, &budget) }) else {
                context.report(
                    "too much structure: more than \(Self.nodeLimit) values, aliases expanded, or more than "
                        + "\(Self.depthLimit) levels",
                    path: "", at: nil)
                return nil
            }
            return nodes.map { StrictNode($0, path: "", at: .start, context: context) }
        } catch {
            Self.report(error, text, context)
            return nil
        }
    }

    /// True if a walk through `node` ends within the limits. Aliases are shared nodes, so a small file can hold more values
    /// than there are atoms; the walk stops as soon as the budget is spent.
    private static func isBounded(_ node: Node, depth: Int, _ budget: inout Int) -> Bool {
        budget -= 1
        guard budget >= 0, depth <= Self.depthLimit else { return false }
        switch node {
        case .scalar, .alias: return true
        case .sequence(let sequence):
            for member in sequence where !Self.isBounded(member, depth: depth + 1, &budget) { return false }
            return true
        case .mapping(let mapping):
            for (key, value) in mapping {
                guard Self.isBounded(key, depth: depth + 1, &budget), Self.isBounded(value, depth: depth + 1, &budget)
                else { return false }
            }
            return true
        }
    }

    private static func report(_ error: any Error, _ text: String, _ context: LoadingContext) {
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            let slip = YAMLSlip(problem, at: SourcePosition(mark), in: text)
            context.report("not valid YAML: \(slip.words)", path: "", at: slip.position)
        case .duplicatedKeysInMapping(let keys, let duplicate):
            let names = keys.map { "\"\($0.excerpt)\"" }.joined(separator: ", ")
            let first = SourcePosition(duplicate.mark)
            let others = keys.min().map { YAMLSlip.otherPlaces(of: $0, at: first, in: text) } ?? []
            let also = others.map { "\($0.line):\($0.column)" }.joined(separator: " and ")
            context.report("duplicate key \(names)\(also.isEmpty ? "" : ", at \(also) too")", path: "", at: first)
        case .reader(let problem, let offset, _, _):
            let position = offset.map { SourcePosition(characters: $0, into: text) }
            context.report("not valid YAML: \(YAMLWords.text(for: problem))", path: "", at: position)
        default:
            context.report("not valid YAML", path: "", at: nil)
        }
    }
}

extension SourcePosition {
    fileprivate init(_ mark: Mark) {
        self.init(line: mark.line, column: mark.column)
    }

    /// The place of the character after the first `count`.
    fileprivate init(characters count: Int, into text: String) {
        var line = 1
        var column = 1
        for character in text.prefix(count) {
            if character.isNewline {
                line += 1
                column = 1
            } else {
                column += character.unicodeScalars.count
            }
        }
        self.init(line: line, column: column)
    }
}
