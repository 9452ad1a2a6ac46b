// SPDX-License-Identifier: Apache-2.0

/// Composes the events of a YAML text into nodes, within the limits of `YAMLDocument`.
///
/// Aliases share nodes, so a small file can hold more nodes than there are atoms, and nodes that alias one another in a chain
/// are as deep as all of them together. So each node knows the size of a walk through it, and none is made that exceeds the
/// limits.
struct YAMLComposer {
    /// The beginning of YAML's own tags.
    private static let ownTags = "tag:yaml.org,2002:"

    private let parser: YAMLParser
    private let ignoresTags: Bool
    /// The nodes that anchors of the document name.
    private var anchors: [String: YAMLNode] = [:]
    /// The number of nodes that further documents may have.
    private var budget = YAMLDocument.nodeLimit

    /// - Parameters:
    ///   - bytes: valid UTF-8 without a byte order mark.
    ///   - ignoresTags: true if tags change nothing. Otherwise those that are not of YAML's core schema are faults. Default false.
    init(_ bytes: [UInt8], ignoringTags ignoresTags: Bool = false) throws(YAMLFault) {
        self.ignoresTags = ignoresTags
        self.parser = try YAMLParser(bytes)
    }

    /// The root of the next document; nil if there is none.
    mutating func next() throws(YAMLFault) -> YAMLNode? {
        if case .streamEnd = try self.parser.next().kind { return nil }
        self.anchors = [:]
        let root = try self.node(try self.parser.next(), depth: 0)
        // The end of the document.
        _ = try self.parser.next()
        self.budget -= root.extent.nodes
        guard self.budget >= 0 else { throw .tooMuch }
        return root
    }

    /// The root of the only document; nil if there is none.
    mutating func only() throws(YAMLFault) -> YAMLNode? {
        guard let root = try self.next() else { return nil }
        let event = try self.parser.next()
        guard case .streamEnd = event.kind else { throw .syntax("but found another document", event.position) }
        return root
    }

    private mutating func node(_ event: YAMLParser.Event, depth: Int) throws(YAMLFault) -> YAMLNode {
        let content: YAMLNode.Content
        var extent = YAMLNode.Extent()
        let anchor: String?
        switch event.kind {
        case .alias(let name):
            guard let node = self.anchors[name] else { throw .syntax("found undefined alias", event.position) }
            guard depth + node.extent.levels <= YAMLDocument.depthLimit else { throw .tooMuch }
            return node
        case .scalar(let scalar, let name):
            content = .scalar(try self.typed(scalar, event))
            anchor = name
        case .sequenceStart(let name):
            try self.check(event, "seq")
            self.begin(name)
            var members: [YAMLNode] = []
            while let member = try self.member(below: depth) {
                try extent.add(member.extent)
                members.append(member)
            }
            content = .sequence(members)
            anchor = name
        case .mappingStart(let name):
            try self.check(event, "map")
            self.begin(name)
            var entries: [YAMLNode.Entry] = []
            while let key = try self.member(below: depth), let value = try self.member(below: depth) {
                try extent.add(key.extent)
                try extent.add(value.extent)
                entries.append((key, value))
            }
            try Self.checkKeys(entries)
            content = .mapping(entries)
            anchor = name
        case .documentStart, .documentEnd, .streamEnd, .sequenceEnd, .mappingEnd:
            preconditionFailure("BUG: libyaml has given \(event.kind) in place of a node")
        }
        let node = YAMLNode(content: content, position: event.position, extent: extent)
        // A later anchor of the same name takes its place.
        if let anchor { self.anchors[anchor] = node }
        return node
    }

    /// Forgets an earlier anchor of the name. Within the node that now has it, an alias would be of that node itself.
    private mutating func begin(_ anchor: String?) {
        if let anchor { self.anchors[anchor] = nil }
    }

    // MARK: Tags

    /// The scalar as its tag reads it (YAML 1.2.2 §10.3).
    private func typed(_ scalar: YAMLNode.Scalar, _ event: YAMLParser.Event) throws(YAMLFault) -> YAMLNode.Scalar {
        guard let tag = event.tag, !self.ignoresTags else { return scalar }
        // The tag that every text has (YAML 1.2.2 §6.9.1).
        if tag == "!" { return YAMLNode.Scalar(string: scalar.string, isPlain: false) }
        switch tag.hasPrefix(Self.ownTags) ? String(tag.dropFirst(Self.ownTags.count)) : "" {
        case "str": return YAMLNode.Scalar(string: scalar.string, isPlain: false)
        case "int", "float", "bool", "null": return YAMLNode.Scalar(string: scalar.string, isPlain: true)
        default: throw self.fault(of: tag, event)
        }
    }

    /// Refuses the tag of a list or a map, unless it is the one that the node has anyway: by its name, or as `!`, which says that
    /// the kind of the node decides (YAML 1.2.2 §6.9.1).
    private func check(_ event: YAMLParser.Event, _ kind: String) throws(YAMLFault) {
        // It changes nothing.
        guard let tag = event.tag, !self.ignoresTags, tag != "!", tag != Self.ownTags + kind else { return }
        throw self.fault(of: tag, event)
    }

    private func fault(of tag: String, _ event: YAMLParser.Event) -> YAMLFault {
        .tag(tag.hasPrefix(Self.ownTags) ? "!!\(tag.dropFirst(Self.ownTags.count))" : tag, event.position)
    }

    // MARK: Members

    /// The next node of a list or a map at `depth`; nil at its end.
    private mutating func member(below depth: Int) throws(YAMLFault) -> YAMLNode? {
        let event = try self.parser.next()
        switch event.kind {
        case .sequenceEnd, .mappingEnd: return nil
        default:
            guard depth < YAMLDocument.depthLimit else { throw .tooMuch }
            return try self.node(event, depth: depth + 1)
        }
    }

    /// Compares keys by their text alone, so `1` and `"1"` are one key, as they are for a reader of the map. Keys that are
    /// no text are refused by the readers of maps.
    private static func checkKeys(_ entries: [YAMLNode.Entry]) throws(YAMLFault) {
        var places: [String: SourcePosition] = [:]
        var repeated: Set<String> = []
        for (key, _) in entries {
            guard case .scalar(let scalar) = key.content else { continue }
            if places[scalar.string] == nil {
                places[scalar.string] = key.position
            } else {
                repeated.insert(scalar.string)
            }
        }
        let sorted = repeated.sorted()
        // No key comes twice.
        guard let first = sorted.first, let place = places[first] else { return }
        throw .repeatedKeys(sorted, place)
    }
}
