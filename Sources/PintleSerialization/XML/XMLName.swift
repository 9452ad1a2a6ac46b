// SPDX-License-Identifier: Apache-2.0

/// The name of an element or an attribute (Namespaces in XML 1.0).
///
/// Two names are equal if their bytes are equal: XML has no canonical equivalence.
public struct XMLName: Sendable, Hashable, CustomStringConvertible {
    /// The part before the colon; empty if there is none.
    public let prefix: String
    /// The part after the colon, or the whole name.
    public let local: String
    /// The URI of the namespace; empty for none, and if namespaces are not resolved.
    public let namespace: String

    /// Makes a name.
    public init(prefix: String = "", _ local: String, namespace: String = "") {
        self.prefix = prefix
        self.local = local
        self.namespace = namespace
    }

    /// The name in its spelling in the document: `dc:title`.
    public var qualified: String { self.prefix.isEmpty ? self.local : "\(self.prefix):\(self.local)" }
    /// The name in its spelling in the document.
    public var description: String { self.qualified }

    /// True if local name, namespace and prefix have equal bytes.
    public static func == (left: XMLName, right: XMLName) -> Bool {
        left.local.hasBytes(of: right.local) && left.prefix.hasBytes(of: right.prefix)
            && left.namespace.hasBytes(of: right.namespace)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        for text in [self.prefix, self.local, self.namespace] { hasher.combine(ExactName(text)) }
    }

    /// True if local name and namespace equal the given ones.
    ///
    /// - Parameters:
    ///   - local: the local name; nil for any.
    ///   - namespace: the namespace; nil for any.
    func matches(_ local: String?, _ namespace: String?) -> Bool {
        if let local, !self.local.hasBytes(of: local) { return false }
        if let namespace, !self.namespace.hasBytes(of: namespace) { return false }
        return true
    }
}

/// An attribute of an element.
public struct XMLAttribute: Sendable, Hashable {
    /// The name. One without prefix is in no namespace.
    public let name: XMLName
    /// The value, with references replaced.
    public let value: String

    /// Makes an attribute.
    public init(_ name: XMLName, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// A document type declaration (XML 1.0 §2.8). External identifiers in it are never fetched.
public struct XMLDocumentType: Sendable, Hashable {
    /// The name that the root element should have.
    public let name: String
    /// The public identifier; nil if there is none.
    public let publicID: String?
    /// The system identifier; nil if there is none.
    public let systemID: String?

    /// Reads everything between `<!DOCTYPE` and `>` of a document that was found valid.
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
