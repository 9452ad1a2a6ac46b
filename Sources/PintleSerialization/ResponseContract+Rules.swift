// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

extension ResponseContract {
    /// The requirement for the body. Content codings are undone before the check.
    public enum BodyRule: Sendable, Equatable {
        /// Anything. The body is not checked, and its codings are not undone.
        case any
        /// A JSON document. Without a rule for documents, an empty body and a single space also pass.
        case json(JSONRule)
        /// An XML document that the scanner accepts.
        case xml(XMLScanner)
        /// A property list, XML or binary, that ``PropertyListResponseSerializer`` accepts.
        case propertyList
        /// An image that can be decoded.
        case image(ImageRule)
        /// A body that one of the rules accepts. The first rule that accepts the body also determines the result; an empty
        /// list accepts nothing.
        case compound([BodyRule])

        /// The media types of such bodies; for a compound rule, those of all its rules; nil for any.
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

        /// True if a body may be replaced, for example by JSON without nulls.
        public var replacesBodies: Bool {
            switch self {
            case .any, .xml, .propertyList, .image: false
            case .json(let rule): rule.removesNulls
            case .compound(let rules): rules.contains { $0.replacesBodies }
            }
        }

        /// True if the rule checks the body.
        public var readsBody: Bool {
            if case .any = self { false } else { true }
        }

        /// True if an empty body passes the rule.
        var takesNothing: Bool {
            switch self {
            case .any: true
            case .json(let rule): rule.takesNothing
            case .xml, .propertyList, .image: false
            case .compound(let rules): rules.contains { $0.takesNothing }
            }
        }
    }

    /// The rule for a body in JSON.
    public struct JSONRule: Sendable, Equatable {
        /// The rules for the syntax of a document.
        public var scanner: JSONScanner
        /// True if nulls are removed, as by ``JSONScanner/removingNulls(from:)``. Default false.
        public var removesNulls: Bool
        /// A further rule for the document; it sees the document after nulls are removed. Default nil.
        public var document: (any JSONDocumentRule)?

        /// Makes a rule.
        public init(
            scanner: JSONScanner = JSONScanner(), removesNulls: Bool = false, document: (any JSONDocumentRule)? = nil
        ) {
            self.scanner = scanner
            self.removesNulls = removesNulls
            self.document = document
        }

        /// True if an empty body, or a single space, passes. JSON services send these for "nothing"; they are not
        /// documents, so they fail any rule for documents.
        var takesNothing: Bool { self.document == nil }

        /// Two rules are equal if all their requirements are equal.
        public static func == (left: JSONRule, right: JSONRule) -> Bool {
            guard left.scanner == right.scanner, left.removesNulls == right.removesNulls else { return false }
            guard let document = left.document, let other = right.document else {
                return left.document == nil && right.document == nil
            }
            return document.equals(other)
        }
    }
}

/// A rule for JSON documents, such as a schema.
public protocol JSONDocumentRule: Sendable, Equatable {
    /// Checks a document against the rule.
    ///
    /// - Returns: a sentence for each violation, with its place, such as `at /items/3/price: must be at least 0, is -1`;
    ///   empty if the document passes. The rule may limit their number.
    func violations(of document: Parameter) -> [String]
}

/// A rule for documents with a check that can be bounded and interrupted.
package protocol MeteredDocumentRule: JSONDocumentRule {
    /// Checks a document against the rule within `budget`. After an interruption, the result is meaningless.
    func violations(of document: Parameter, within budget: WorkBudget) -> [String]
}

extension JSONDocumentRule {
    fileprivate func equals(_ other: any JSONDocumentRule) -> Bool { other as? Self == self }
}

/// The result of checking a response that meets its contract.
public struct CheckedBody: Sendable, Equatable {
    /// The bytes to forward instead of the body; nil if the body stays unchanged, content codings included. The new bytes
    /// have no content coding.
    public var replacement: [UInt8]?
    /// The size of the image in the body, under a rule for images.
    public var imageSize: ImageSize?

    /// Makes a result.
    public init(replacement: [UInt8]? = nil, imageSize: ImageSize? = nil) {
        self.replacement = replacement
        self.imageSize = imageSize
    }

    /// Removes the fields that describe the replaced bytes: the coding, values that were computed from the bytes, and
    /// ranges of them. Does nothing if the body is not replaced.
    public func removeStaleFields(from fields: inout Fields) {
        guard self.replacement != nil else { return }
        for name in Self.fieldsAboutBytes { fields.remove(name) }
    }

    private static let fieldsAboutBytes = [
        "Content-Encoding", "ETag", "Content-MD5", "Digest", "Content-Digest", "Repr-Digest", "Accept-Ranges",
        "Content-Range",
    ]
}
