// SPDX-License-Identifier: Apache-2.0

/// Resolves the namespaces of names in a document (Namespaces in XML 1.0), and keeps each name once.
///
/// Looking up a prefix takes constant time, however many bindings are in force: a declaration of an element replaces the
/// previous binding, which is restored at the end of the element.
struct XMLNameResolver: Sendable {
    /// An attribute of the last opened element: the number of its name, and the place of its value.
    struct Attribute {
        let name: Int
        let value: Range<Int>
    }

    /// A name in its spelling in the document, as numbers of its texts.
    private struct Spelling {
        let prefix: Int
        let local: Int
        /// True if the name has at most one colon, with text on both sides.
        let isQualified: Bool
    }

    private struct Resolved: Hashable {
        let spelling: Int
        let namespace: Int
    }

    private struct Expanded: Hashable {
        let local: Int
        let namespace: Int
    }

    /// The maximum number of different names of elements and attributes, because each one is kept.
    private static let nameLimit = 1 << 16

    private let readsNamespaces: Bool
    private let attributeLimit: Int
    private var texts = XMLStringTable()
    private var spellings: [Int: Spelling] = [:]
    private var numbers: [Resolved: Int] = [:]
    /// All names so far, by number.
    private(set) var names: [XMLName] = []
    /// The number of the URI for each prefix; 0 for none, which only the empty prefix can have.
    private var bindings: [Int: Int]
    /// The bindings that open elements have replaced.
    private var replaced: [(prefix: Int, namespace: Int?)] = []
    private var open: [(name: Int, replacedCount: Int)] = []
    /// The attributes of the last opened element, in order.
    private(set) var attributes: [Attribute] = []

    private let xml: (prefix: Int, namespace: Int)
    private let xmlns: (prefix: Int, namespace: Int)

    init(readsNamespaces: Bool, attributeLimit: Int) {
        self.readsNamespaces = readsNamespaces
        self.attributeLimit = attributeLimit
        self.xml = (
            self.texts.number(of: "xml".utf8), self.texts.number(of: "http://www.w3.org/XML/1998/namespace".utf8)
        )
        self.xmlns = (self.texts.number(of: "xmlns".utf8), self.texts.number(of: "http://www.w3.org/2000/xmlns/".utf8))
        self.bindings = [0: 0, self.xml.prefix: self.xml.namespace, self.xmlns.prefix: self.xmlns.namespace]
    }

    /// Opens an element.
    ///
    /// - Returns: the number of its name.
    mutating func open(
        _ name: Range<Int>, attributes area: Range<Int>, in document: XMLCursor
    ) throws(XMLSyntaxError) -> Int {
        self.attributes.removeAll(keepingCapacity: true)
        self.open.append((0, self.replaced.count))
        var spelled: [(spelling: Int, place: Range<Int>, value: Range<Int>)] = []
        var rest = area
        while let (name, value) = document.attribute(in: &rest) {
            guard spelled.count < self.attributeLimit else {
                throw document.error("more than \(self.attributeLimit) attributes", at: name.lowerBound)
            }
            let spelling = try self.spelling(of: name, in: document)
            spelled.append((spelling, name, value))
            if self.readsNamespaces { try self.declare(spelling, name, value, in: document) }
        }
        let number = try self.resolve(self.spelling(of: name, in: document), name, in: document, isAttribute: false)
        var expanded: Set<Expanded> = []
        for (spelling, place, value) in spelled {
            let name = try self.resolve(spelling, place, in: document, isAttribute: true)
            self.attributes.append(Attribute(name: name, value: value))
            try self.checkUnique(spelling, place, among: &expanded, in: document)
        }
        self.open[self.open.count - 1].name = number
        return number
    }

    /// Closes the innermost element.
    ///
    /// - Returns: the number of its name.
    mutating func close() -> Int {
        guard let (name, count) = self.open.popLast() else {
            preconditionFailure("BUG: an element ended that had not begun")
        }
        while self.replaced.count > count, let (prefix, namespace) = self.replaced.popLast() {
            self.bindings[prefix] = namespace
        }
        return name
    }

    // MARK: Spellings

    private mutating func spelling(of range: Range<Int>, in document: XMLCursor) throws(XMLSyntaxError) -> Int {
        let bytes = document.bytes[range]
        let number = self.texts.number(of: bytes)
        let spelling: Spelling
        if let known = self.spellings[number] {
            spelling = known
        } else if let colon = bytes.firstIndex(of: UInt8(ascii: ":")) {
            let (prefix, local) = (bytes[..<colon], bytes[(colon + 1)...])
            spelling = Spelling(
                prefix: self.texts.number(of: prefix), local: self.texts.number(of: local),
                isQualified: !prefix.isEmpty && Self.isLocal(local))
            self.spellings[number] = spelling
        } else {
            spelling = Spelling(prefix: 0, local: number, isQualified: true)
            self.spellings[number] = spelling
        }
        guard spelling.isQualified || !self.readsNamespaces else {
            throw document.error("“\(self.shown(number))” is no name with a prefix", at: range.lowerBound)
        }
        return number
    }

    /// True if a name is allowed after a colon: it has no other colon, and begins with a character that begins names.
    private static func isLocal(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard !bytes.contains(UInt8(ascii: ":")),
            let first = String(decoding: bytes, as: UTF8.self).unicodeScalars.first
        else { return false }
        return XMLText.isNameStart(first)
    }

    /// Returns the part of a text that an error shows.
    private func shown(_ number: Int) -> String { String(decoding: self.texts[number].utf8.prefix(64), as: UTF8.self) }

    // MARK: Namespaces

    private mutating func declare(
        _ number: Int, _ place: Range<Int>, _ value: Range<Int>, in document: XMLCursor
    ) throws(XMLSyntaxError) {
        guard let spelling = self.spellings[number] else { return }
        let isDefault = spelling.prefix == 0 && spelling.local == self.xmlns.prefix
        guard isDefault || spelling.prefix == self.xmlns.prefix else { return }
        let prefix = isDefault ? 0 : spelling.local
        var text: [UInt8] = []
        document.append(value, as: .value, to: &text)
        let namespace = self.texts.number(of: text)
        let isReserved = [self.xml.namespace, self.xmlns.namespace].contains(namespace)
        switch prefix {
        case self.xml.prefix where namespace == self.xml.namespace: return
        case self.xml.prefix, self.xmlns.prefix,
            _ where isReserved:
            throw document.error("a declaration of a prefix or a namespace that is XML's own", at: place.lowerBound)
        case _ where prefix != 0 && namespace == 0:
            throw document.error("the prefix “\(self.shown(prefix))” for no namespace", at: place.lowerBound)
        default:
            self.replaced.append((prefix, self.bindings[prefix]))
            self.bindings[prefix] = namespace
        }
    }

    /// Returns the namespace of a name; an attribute without prefix has none.
    private func namespace(of spelling: Spelling, isAttribute: Bool) -> Int? {
        guard self.readsNamespaces else { return 0 }
        guard isAttribute, spelling.prefix == 0 else { return self.bindings[spelling.prefix] }
        // `xmlns` itself is in the namespace of declarations.
        return spelling.local == self.xmlns.prefix ? self.xmlns.namespace : 0
    }

    private mutating func resolve(
        _ number: Int, _ place: Range<Int>, in document: XMLCursor, isAttribute: Bool
    ) throws(XMLSyntaxError) -> Int {
        guard let spelling = self.spellings[number] else { preconditionFailure("BUG: a name was not read") }
        guard let namespace = self.namespace(of: spelling, isAttribute: isAttribute),
            isAttribute || namespace != self.xmlns.namespace
        else {
            throw document.error(
                "the prefix “\(self.shown(spelling.prefix))” stands for no namespace", at: place.lowerBound)
        }
        return try self.number(
            of: Resolved(spelling: number, namespace: namespace), spelling, at: place.lowerBound, in: document)
    }

    private mutating func number(
        of key: Resolved, _ spelling: Spelling, at place: Int, in document: XMLCursor
    ) throws(XMLSyntaxError) -> Int {
        if let number = self.numbers[key] { return number }
        guard self.names.count < Self.nameLimit else {
            throw document.error("more than \(Self.nameLimit) different names", at: place)
        }
        let number = self.names.count
        self.numbers[key] = number
        self.names.append(
            XMLName(
                prefix: self.texts[spelling.prefix], self.texts[spelling.local], namespace: self.texts[key.namespace]))
        return number
    }

    /// Refuses two attributes with the same local name in the same namespace, even with different prefixes (§6.3).
    private func checkUnique(
        _ number: Int, _ place: Range<Int>, among seen: inout Set<Expanded>, in document: XMLCursor
    ) throws(XMLSyntaxError) {
        guard self.readsNamespaces, let spelling = self.spellings[number], spelling.prefix != 0,
            let namespace = self.bindings[spelling.prefix]
        else { return }
        guard seen.insert(Expanded(local: spelling.local, namespace: namespace)).inserted else {
            throw document.error(
                "a second attribute “\(self.shown(spelling.local))” of a namespace", at: place.lowerBound)
        }
    }
}
