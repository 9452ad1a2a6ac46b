// SPDX-License-Identifier: Apache-2.0

internal import Yams

/// Composes the text of a configuration file into a YAML node, within limits.
enum YAMLDocument {
    /// Size limit of a file in bytes. A thousand routes take a tenth of it.
    static let byteLimit = 4 << 20
    /// The most nodes that reading may visit; an alias counts as all the nodes that it stands for.
    static let nodeLimit = 500_000
    /// The deepest nesting of nodes.
    static let depthLimit = 64

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Returns the root node; nil after a problem was reported.
    static func compose(_ bytes: [UInt8], _ context: LoadingContext) -> StrictNode? {
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
            guard let node = try Parser(yaml: text).singleRoot() else {
                context.report("the file is empty; it must at least say: version: 1", path: "", at: .start)
                return nil
            }
            var budget = Self.nodeLimit
            guard Self.isBounded(node, depth: 0, &budget) else {
                context.report(
                    "too much structure: more than \(Self.nodeLimit) values, aliases expanded, or more than "
                        + "\(Self.depthLimit) levels",
                    path: "", at: nil)
                return nil
            }
            return StrictNode(node, path: "", at: .start, context: context)
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
