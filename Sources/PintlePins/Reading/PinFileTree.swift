// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

/// An element of an XML document with its contents, for configuration files: small documents, which are held in memory.
final class PinFileElement {
    let name: String
    let attributes: [String: String]
    /// The line of its start tag, from 1.
    let line: Int
    private(set) var children: [PinFileElement] = []
    /// The text directly inside it, with references replaced.
    private(set) var text = ""

    fileprivate init(name: String, attributes: [String: String], line: Int) {
        self.name = name
        self.attributes = attributes
        self.line = line
    }

    fileprivate func add(_ child: PinFileElement) { self.children.append(child) }
    fileprivate func add(_ text: String) { self.text += text }

    /// Returns the elements of that name directly inside it.
    func children(_ name: String) -> [PinFileElement] { self.children.filter { $0.name == name } }
}

/// A parsed document. `XMLScanner` has checked before that it is well-formed, so the reader here need not.
struct PinFileTree {
    /// A comment and the line at which it begins.
    struct Comment {
        let line: Int
        let text: String
    }

    let root: PinFileElement
    private(set) var comments: [Comment] = []

    /// - Throws: for XML that is not well-formed, and for encodings other than UTF-8.
    init(_ bytes: [UInt8], file: String) throws(PinFormatError) {
        do throws(XMLSyntaxError) {
            try XMLScanner().validate(bytes)
        } catch {
            throw PinFormatError(file: file, line: error.line, "not well-formed XML: \(error.problem)")
        }
        var reader = Reader(text: Substring(try PinReader.text(bytes, file)))
        reader.read()
        guard let root = reader.root else { throw PinFormatError(file: file, line: nil, "the document has no element") }
        self.root = root
        self.comments = reader.comments
    }

    /// Returns the notes among the comments.
    func notes(_ file: String) throws(PinFormatError) -> Notes {
        var notes: [Note] = []
        for comment in self.comments {
            if let note = try Note(comment: comment.text, line: comment.line, file: file) { notes.append(note) }
        }
        return Notes(notes, file: file)
    }
}

private struct Reader {
    var text: Substring
    var line = 1
    var root: PinFileElement?
    var comments: [PinFileTree.Comment] = []
    private var open: [PinFileElement] = []

    init(text: Substring) { self.text = text }

    mutating func read() {
        while let mark = self.text.first {
            if mark != "<" {
                let text = self.take { $0 != "<" }
                self.open.last?.add(Self.unescaped(text))
            } else if self.text.hasPrefix("<!--") {
                let line = self.line
                let comment = self.take(through: "-->")
                self.comments.append(.init(line: line, text: String(comment.dropFirst(4).dropLast(3)).trimmed))
            } else if self.text.hasPrefix("<![CDATA[") {
                let section = self.take(through: "]]>")
                self.open.last?.add(String(section.dropFirst(9).dropLast(3)))
            } else if self.text.hasPrefix("<?") {
                _ = self.take(through: "?>")
            } else if self.text.hasPrefix("<!") {
                _ = self.take(through: ">")
            } else if self.text.hasPrefix("</") {
                _ = self.take(through: ">")
                _ = self.open.popLast()
            } else {
                self.startTag()
            }
        }
    }

    private mutating func startTag() {
        let line = self.line
        self.advance(1)
        let name = String(self.take { !$0.isWhitespace && $0 != ">" && $0 != "/" })
        var attributes: [String: String] = [:]
        while true {
            _ = self.take(while: \.isWhitespace)
            guard let next = self.text.first, next != ">", next != "/" else { break }
            let key = String(self.take { !$0.isWhitespace && $0 != "=" })
            _ = self.take { $0.isWhitespace || $0 == "=" }
            guard let quote = self.text.first else { break }
            self.advance(1)
            attributes[key] = Self.unescaped(self.take { $0 != quote })
            self.advance(1)
        }
        let isEmpty = self.text.first == "/"
        _ = self.take(through: ">")
        let element = PinFileElement(name: name, attributes: attributes, line: line)
        self.open.last?.add(element)
        if self.root == nil { self.root = element }
        if !isEmpty { self.open.append(element) }
    }

    // MARK: Pieces

    private mutating func take(while belongs: (Character) -> Bool) -> Substring {
        let taken = self.text.prefix(while: belongs)
        self.text = self.text[taken.endIndex...]
        self.line += taken.count(where: \.isNewline)
        return taken
    }

    private mutating func take(through end: String) -> Substring {
        let last = self.text.firstRange(of: end)?.upperBound ?? self.text.endIndex
        let taken = self.text[..<last]
        self.text = self.text[last...]
        self.line += taken.count(where: \.isNewline)
        return taken
    }

    private mutating func advance(_ count: Int) { self.text = self.text.dropFirst(count) }

    /// Returns the text with XML's five named references, and those to characters, replaced.
    private static func unescaped(_ text: Substring) -> String {
        guard text.contains("&") else { return String(text) }
        let named: [Substring: Character] = ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'"]
        var result = ""
        var rest = text
        while let character = rest.popFirst() {
            guard character == "&", let end = rest.firstIndex(of: ";") else {
                result.append(character)
                continue
            }
            let reference = rest[..<end]
            rest = rest[rest.index(after: end)...]
            let isHexadecimal = reference.hasPrefix("#x")
            let digits = reference.dropFirst(isHexadecimal ? 2 : 1)
            if let character = named[reference] {
                result.append(character)
            } else if let value = UInt32(digits, radix: isHexadecimal ? 16 : 10), let scalar = UnicodeScalar(value) {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

extension String {
    /// The text escaped for an XML document, in an element or in quotes.
    var xmlEscaped: String {
        var result = ""
        for scalar in self.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
