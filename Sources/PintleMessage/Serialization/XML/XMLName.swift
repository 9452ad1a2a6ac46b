// SPDX-License-Identifier: Apache-2.0

/// The name of an element or an attribute (Namespaces in XML 1.0).
///
/// Two names are equal when their bytes are: XML knows no canonical equivalence.
public struct XMLName: Sendable, Hashable, CustomStringConvertible {
    /// The part before the colon; empty where there is none.
    public let prefix: String
    /// The part after the colon, or the whole name.
    public let local: String
    /// The URI of the namespace; empty for none, and where namespaces are not read.
    public let namespace: String

    /// Makes a name.
    public init(prefix: String = "", _ local: String, namespace: String = "") {
        self.prefix = prefix
        self.local = local
        self.namespace = namespace
    }

    /// As it is spelled: `dc:title`.
    public var qualified: String { self.prefix.isEmpty ? self.local : "\(self.prefix):\(self.local)" }
    /// As it is spelled.
    public var description: String { self.qualified }

    /// True where local name, namespace and prefix have the same bytes.
    public static func == (left: XMLName, right: XMLName) -> Bool {
        left.local.hasBytes(of: right.local) && left.prefix.hasBytes(of: right.prefix)
            && left.namespace.hasBytes(of: right.namespace)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        for text in [self.prefix, self.local, self.namespace] { hasher.combine(ExactName(text)) }
    }

    /// True where the name is asked for.
    ///
    /// - Parameters:
    ///   - local: nil for any.
    ///   - namespace: nil for any.
    func matches(_ local: String?, _ namespace: String?) -> Bool {
        if let local, !self.local.hasBytes(of: local) { return false }
        if let namespace, !self.namespace.hasBytes(of: namespace) { return false }
        return true
    }
}

/// An attribute of an element.
public struct XMLAttribute: Sendable, Hashable {
    /// Its name. One without prefix is in no namespace.
    public let name: XMLName
    /// Its value, with references replaced.
    public let value: String

    /// Makes an attribute.
    public init(_ name: XMLName, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// A document type declaration (XML 1.0 §2.8). What it names is never fetched.
public struct XMLDocumentType: Sendable, Hashable {
    /// The name that the document's element should have.
    public let name: String
    /// Nil where there is none.
    public let publicID: String?
    /// Nil where there is none.
    public let systemID: String?

    /// Reads all between `<!DOCTYPE` and `>` of a document that has been judged.
    init(_ declaration: ArraySlice<UInt8>) {
        // The only quotes are those of the identifiers.
        let start = declaration.drop(while: XMLText.isSpace)
        let name = start.prefix { !XMLText.isSpace($0) }
        self.name = String(decoding: name, as: UTF8.self)
        var rest = start[name.endIndex...]
        var identifiers: [String] = []
        while let open = rest.firstIndex(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "'") }) {
            let text = rest[(open + 1)...].prefix { $0 != rest[open] }
            identifiers.append(String(decoding: text, as: UTF8.self))
            rest = rest[min(text.endIndex + 1, rest.endIndex)...]
        }
        self.systemID = identifiers.last
        self.publicID = identifiers.count == 2 ? identifiers.first : nil
    }
}

extension String {
    fileprivate func hasBytes(of other: String) -> Bool { self.utf8.elementsEqual(other.utf8) }
}
