// SPDX-License-Identifier: Apache-2.0

/// Composes the text of a configuration file into a YAML node, within limits.
package enum YAMLDocument {
    /// Size limit of a file in bytes. A thousand routes take a tenth of it.
    package static let byteLimit = 4 << 20
    /// The most nodes that reading may visit; an alias counts as all the nodes that it stands for.
    static let nodeLimit = 500_000
    /// The deepest nesting of nodes.
    static let depthLimit = 64
    /// The most lines that begin as directives do. libyaml compares each %TAG with all before it.
    static let directiveLimit = 1000
    /// The most names of repeated keys that a message has.
    private static let namedKeys = 8

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Returns the root node; nil after a problem was reported.
    ///
    /// - Parameter ignoresTags: true for files in other formats. Default false: a tag that Pintle does not know is a problem.
    static func compose(
        _ bytes: [UInt8], _ context: LoadingContext, ignoringTags ignoresTags: Bool = false
    ) -> StrictNode? {
        let roots = Self.roots(of: bytes, context, ignoringTags: ignoresTags) { composer throws(YAMLFault) in
            [try composer.only()].compactMap { $0 }
        }
        if roots?.isEmpty == true {
            context.report("the file is empty; it must at least say: version: 1", path: "", at: .start)
        }
        return roots?.first
    }

    /// Returns the root nodes of a file that may have several documents; nil after a problem was reported.
    package static func composeAll(_ bytes: [UInt8], _ context: LoadingContext) -> [StrictNode]? {
        Self.roots(of: bytes, context, ignoringTags: false) { composer throws(YAMLFault) in
            var roots: [YAMLNode] = []
            while let root = try composer.next() { roots.append(root) }
            return roots
        }
    }

    private static func roots(
        of bytes: [UInt8], _ context: LoadingContext, ignoringTags ignoresTags: Bool,
        _ read: (inout YAMLComposer) throws(YAMLFault) -> [YAMLNode]
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
        guard Self.directives(in: bytes) <= Self.directiveLimit else {
            context.report(
                "more than \(Self.directiveLimit) lines begin with %, as directives do; none is needed here", path: "",
                at: nil)
            return nil
        }
        if let index = Self.otherLineEnd(in: text) {
            let digits = String(text.unicodeScalars[index].value, radix: 16)
            let code = String(repeating: "0", count: 4 - digits.utf8.count) + digits
            context.report(
                "the character U+\(code) ends a line for some programs and not for others; leave it out, or write "
                    + "\"\\u\(code)\" in double quotes", path: "", at: SourcePosition(after: text[..<index]))
            return nil
        }
        do throws(YAMLFault) {
            var composer = try YAMLComposer(bytes, ignoringTags: ignoresTags)
            return try read(&composer).map { StrictNode($0, path: "", context: context) }
        } catch {
            Self.report(error, bytes, text, context)
            return nil
        }
    }

    /// The place of the first character that ends a line in YAML 1.1 alone.
    ///
    /// libyaml reads YAML 1.1: it would find a key behind one in a comment, and change texts that have one. In YAML 1.2, and for
    /// most editors, they are characters like others.
    private static func otherLineEnd(in text: String) -> String.Index? {
        text.unicodeScalars.firstIndex { $0 == "\u{85}" || $0 == "\u{2028}" || $0 == "\u{2029}" }
    }

    /// The number of lines that begin with a percent sign.
    private static func directives(in bytes: [UInt8]) -> Int {
        var (count, previous) = (0, UInt8(ascii: "\n"))
        for byte in bytes {
            let beginsLine = previous == UInt8(ascii: "\n") || previous == UInt8(ascii: "\r")
            if beginsLine, byte == UInt8(ascii: "%") { count += 1 }
            previous = byte
        }
        return count
    }

    private static func report(_ fault: YAMLFault, _ bytes: [UInt8], _ text: String, _ context: LoadingContext) {
        switch fault {
        case .syntax(let problem, let position):
            let slip = YAMLSlip(problem, at: position, in: text)
            context.report("not valid YAML: \(slip.words)", path: "", at: slip.position)
        case .character(let problem, let offset):
            let position = SourcePosition(after: String(decoding: bytes.prefix(offset), as: UTF8.self)[...])
            context.report("not valid YAML: \(YAMLWords.text(for: problem))", path: "", at: position)
        case .repeatedKeys(let keys, let first):
            let named = keys.prefix(Self.namedKeys).map { "\"\($0.excerpt)\"" }.joined(separator: ", ")
            let names = keys.count > Self.namedKeys ? "\(named) and \(keys.count - Self.namedKeys) more" : named
            let others = keys.first.map { YAMLSlip.otherPlaces(of: $0, at: first, in: text) } ?? []
            let also = others.map { "\($0.line):\($0.column)" }.joined(separator: " and ")
            context.report("duplicate key \(names)\(also.isEmpty ? "" : ", at \(also) too")", path: "", at: first)
        case .tag(let tag, let position):
            context.report(
                "the tag \"\(tag.excerpt)\" means nothing here; write the value without it, and env:NAME or file:PATH for "
                    + "one that stands elsewhere", path: "", at: position)
        case .tooMuch:
            context.report(
                "too much structure: more than \(Self.nodeLimit) values, aliases expanded, or more than "
                    + "\(Self.depthLimit) levels",
                path: "", at: nil)
        case .outOfMemory: context.report("not enough memory to read the file", path: "", at: nil)
        }
    }
}

extension SourcePosition {
    /// The place of the character after `text`.
    fileprivate init(after text: Substring) {
        var (line, column) = (1, 1)
        var previous: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            if scalar == "\n" || scalar == "\r" {
                // The two of them end one line.
                if scalar == "\r" || previous != "\r" { line += 1 }
                column = 1
            } else {
                column += 1
            }
            previous = scalar
        }
        self.init(line: line, column: column)
    }
}
