// SPDX-License-Identifier: Apache-2.0

extension ResponseContract {
    /// What the body must be. Content codings are undone before it is looked at.
    public enum BodyRule: Sendable, Equatable {
        /// Anything. The body is not looked at, and its codings are not undone.
        case any
        /// A JSON document. Unless there is a rule for documents, an empty body, or one single space, also passes.
        case json(JSONRule)
        /// An XML document as the scanner takes it.
        case xml(XMLScanner)
        /// A property list, in XML or binary, as ``PropertyListResponseSerializer`` takes it.
        case propertyList
        /// An image that can be decoded.
        case image(ImageRule)
        /// What one of the rules takes. They are asked in order and the first that takes the body decides what becomes of
        /// it; an empty list takes nothing.
        case compound([BodyRule])

        /// The media types that such bodies are served as, those of a compound rule being the union of its rules'; nil
        /// for any.
        public var mediaTypes: Set<String>? {
            switch self {
            case .any: return nil
            case .json: return ResponseContract.jsonTypes
            case .xml: return ResponseContract.xmlTypes
            case .propertyList: return ResponseContract.propertyListTypes
            case .image: return ResponseContract.imageTypes
            case .compound(let rules):
                var types: Set<String> = []
                for rule in rules {
                    guard let more = rule.mediaTypes else { return nil }
                    types.formUnion(more)
                }
                return types
            }
        }

        /// Whether a body may be replaced, as by JSON without nulls.
        public var replacesBodies: Bool {
            switch self {
            case .any, .xml, .propertyList, .image: false
            case .json(let rule): rule.removesNulls
            case .compound(let rules): rules.contains { $0.replacesBodies }
            }
        }

        /// Whether the rule looks at the body.
        public var readsBody: Bool {
            if case .any = self { false } else { true }
        }

        /// Whether a body without a byte keeps the rule.
        var takesNothing: Bool {
            switch self {
            case .any: true
            case .json(let rule): rule.takesNothing
            case .xml, .propertyList, .image: false
            case .compound(let rules): rules.contains { $0.takesNothing }
            }
        }
    }

    /// The rule that a body is JSON.
    public struct JSONRule: Sendable, Equatable {
        /// What is accepted as a document.
        public var scanner: JSONScanner
        /// Whether nulls are taken out, as ``JSONScanner/removingNulls(from:)`` does. Default false.
        public var removesNulls: Bool
        /// What the document must be like beyond being JSON; it sees it without the nulls that are taken out. Default nil.
        public var document: (any JSONDocumentRule)?

        /// Makes a rule.
        public init(
            scanner: JSONScanner = JSONScanner(), removesNulls: Bool = false, document: (any JSONDocumentRule)? = nil
        ) {
            self.scanner = scanner
            self.removesNulls = removesNulls
            self.document = document
        }

        /// Whether a body without a byte, or of one single space, passes: what JSON services send for "nothing" is no
        /// document, and so keeps no rule for documents.
        var takesNothing: Bool { self.document == nil }

        /// Two rules are equal when all that they ask is.
        public static func == (left: JSONRule, right: JSONRule) -> Bool {
            guard left.scanner == right.scanner, left.removesNulls == right.removesNulls else { return false }
            guard let document = left.document, let other = right.document else {
                return left.document == nil && right.document == nil
            }
            return document.equals(other)
        }
    }
}

/// What a JSON document must be like, such as a schema says it.
public protocol JSONDocumentRule: Sendable, Equatable {
    /// Holds a document to the rule.
    ///
    /// - Returns: a sentence for each violation, with the place where it is, such as
    ///   `at /items/3/price: must be at least 0, is -1`; empty where the document keeps the rule. How many there are at
    ///   most is up to the rule.
    func violations(of document: Parameter) -> [String]
}

/// A rule for documents whose work can be bounded, and given up.
package protocol MeteredDocumentRule: JSONDocumentRule {
    /// Holds a document to the rule as far as `budget` lets it. After an interruption the result means nothing.
    func violations(of document: Parameter, within budget: WorkBudget) -> [String]
}

extension JSONDocumentRule {
    fileprivate func equals(_ other: any JSONDocumentRule) -> Bool { other as? Self == self }
}

/// What was found out about a response that keeps its contract.
public struct CheckedBody: Sendable, Equatable {
    /// The bytes to pass on in place of the body; nil where it stays as it is, content codings included. They have no
    /// content coding.
    public var replacement: [UInt8]?
    /// The size of the image that the body is, under a rule for images.
    public var imageSize: ImageSize?

    /// Makes a finding.
    public init(replacement: [UInt8]? = nil, imageSize: ImageSize? = nil) {
        self.replacement = replacement
        self.imageSize = imageSize
    }

    /// Takes out what the fields of the response say about bytes that are replaced: the coding, what was computed from
    /// them, and parts of them. It does nothing where they stay.
    public func removeStaleFields(from fields: inout Fields) {
        guard self.replacement != nil else { return }
        for name in Self.fieldsAboutBytes { fields.remove(name) }
    }

    private static let fieldsAboutBytes = [
        "Content-Encoding", "ETag", "Content-MD5", "Digest", "Content-Digest", "Repr-Digest", "Accept-Ranges",
        "Content-Range",
    ]
}
