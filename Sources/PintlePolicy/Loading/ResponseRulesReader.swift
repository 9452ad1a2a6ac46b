// SPDX-License-Identifier: Apache-2.0

private import PintleSerialization

/// Reads `routes[].response`.
enum ResponseRulesReader {
    /// Size limit of a placeholder, in bytes.
    private static let placeholderLimit = 1 << 20

    /// - Parameter hasContract: true if an API contract may have demands of its own.
    static func read(_ map: StrictMap, hasContract: Bool) -> ResponseRules {
        var rules = ResponseRules()
        if let headers = map["headers"]?.map(.responseHeaders) {
            rules.headers = HeaderRulesReader.read(headers, of: .response)
        }
        map.read("status", into: &rules.status) { node in
            node.values { $0.parsed { text throws(Malformed) in try Spelling.statuses(text) } }
        }
        map.read("content_types", into: &rules.contentTypes) { node in
            node.values { $0.parsed { text throws(Malformed) in try Spelling.mediaType(text) } }.map { .some($0) }
        }
        map.read("structured_suffixes", into: &rules.structuredSuffixes) { $0.bool() }
        map.read("body", into: &rules.body, BodyRuleReader.read)
        map.read("remove_nulls", into: &rules.removeNulls) { $0.bool() }
        if let node = map["remove_nulls"], rules.removeNulls, !rules.body.isJSON {
            node.report("needs body: json; nothing else has nulls to remove")
        }
        map.read("max_body", into: &rules.maxBody) { node in node.byteCount(0...1 << 50).map { .some($0) } }
        map.read("on_violation", into: &rules.onViolation) { $0.choice() }
        if let placeholder = map["placeholder"]?.map(.placeholder) {
            rules.placeholder = Self.readPlaceholder(placeholder)
        }
        map.read("placeholder_after", into: &rules.placeholderAfter) { node in
            node.duration(.milliseconds(1) ... .seconds(3600)).map { .some($0) }
        }
        Self.checkPlaceholder(rules, map)
        if let node = map["structured_suffixes"], rules.structuredSuffixes { Self.checkSuffixes(rules, node) }
        if let node = map["on_violation"], rules.acceptsAnything, rules.maxBody == nil, !hasContract {
            node.report(
                "nothing is demanded of the responses that could be violated; add status, content_types, body, max_body or "
                    + "a contract, or leave it out")
        }
        return rules
    }

    private static func checkSuffixes(_ rules: ResponseRules, _ node: StrictNode) {
        if rules.body == .any, rules.contentTypes == nil {
            return node.report("needs content_types or a body rule; every type is accepted as it is")
        }
        // The types that `+json` and `+xml` stand for.
        let types = ["application/json", "application/xml", "text/xml"]
        let isRead = rules.contentTypes?.contains(where: types.contains) ?? (rules.body.isJSON || rules.body.isXML)
        if !isRead {
            node.report("needs application/json, application/xml or text/xml among the types; it is for no other")
        }
    }

    private static func readPlaceholder(_ map: StrictMap) -> ResponseRules.Placeholder? {
        guard let file = map["file"] else {
            map.node.report("the key \"file\" is missing; a placeholder is a file that is sent instead")
            return nil
        }
        guard let name = file.nonEmptyString() else { return nil }
        let path = file.resolve(name)
        var placeholder: ResponseRules.Placeholder
        do throws(LoaderEnvironment.ReadingError) {
            let bytes = try file.context.surroundings.read(path, Self.placeholderLimit)
            placeholder = ResponseRules.Placeholder(body: bytes, mediaType: FileMediaType.named(name))
        } catch {
            file.report(error.words(for: path, limit: Self.placeholderLimit))
            return nil
        }
        map.read("status", into: &placeholder.status) { node in node.int(200...599).map { UInt16($0) } }
        if let node = map["status"], [204, 304].contains(placeholder.status) {
            node.report("a response with this status has no content")
        }
        map.read("failures", into: &placeholder.failures) { node in
            node.isOff ? [] : node.values { $0.choice(ResponseRules.OriginFailure.self) }.map(Set.init)
        }
        return placeholder
    }

    private static func checkPlaceholder(_ rules: ResponseRules, _ map: StrictMap) {
        if rules.onViolation == .placeholder, map["placeholder"] == nil {
            map["on_violation"]?.report("placeholder needs placeholder: {file: …}")
        }
        if let node = map["placeholder_after"], map["placeholder"] == nil {
            node.report("needs placeholder: {file: …}")
        }
        if let node = map["placeholder"], rules.placeholder?.failures.isEmpty == true,
            rules.onViolation != .placeholder,
            rules.placeholderAfter == nil
        {
            node.report("is never sent; name failures, or set on_violation: placeholder, or placeholder_after")
        }
    }
}

/// Reads `routes[].response.body`: a name, a map with one name and its options, or a list of those.
enum BodyRuleReader {
    private enum Name: String, CaseIterable {
        case any, json, xml, plist, image

        var rule: ResponseRules.Body {
            switch self {
            case .any: .any
            case .json: .json(ResponseRules.JSONRules())
            case .xml: .xml
            case .plist: .plist
            case .image: .image(ResponseRules.ImageRules())
            }
        }
    }

    static func read(_ node: StrictNode) -> ResponseRules.Body? {
        guard node.isList else { return Self.single(node) }
        guard let members = node.values(Self.single) else { return nil }
        if members.contains(.any), members.count > 1 {
            node.report("any takes every body, so the others would never be asked; leave it out")
        }
        return members.count == 1 ? members[0] : .compound(members)
    }

    private static func single(_ node: StrictNode) -> ResponseRules.Body? {
        guard node.isMap else { return node.choice(Name.self)?.rule }
        guard let map = node.map(.body) else { return nil }
        guard map.entries.count == 1 else {
            node.report("has \(map.entries.count) rules; a list has several, and the first that takes a body counts")
            return nil
        }
        if let json = map["json"] { return json.map(.bodyJSON).map { .json(Self.json($0)) } }
        return map["image"]?.map(.bodyImage).map { .image(Self.image($0)) }
    }

    private static func json(_ map: StrictMap) -> ResponseRules.JSONRules {
        var rules = ResponseRules.JSONRules()
        map.read("fragments", into: &rules.fragments) { $0.bool() }
        map.read("schema", into: &rules.schema) { node in
            node.nonEmptyString().map { Located(node.resolve($0), at: node.position) }
        }
        return rules
    }

    private static func image(_ map: StrictMap) -> ResponseRules.ImageRules {
        var rules = ResponseRules.ImageRules()
        map.read("max_pixels", into: &rules.pixels) { $0.int(1...1 << 30) }
        return rules
    }
}

extension ResponseRules.Body {
    /// True if JSON is among the accepted bodies.
    package var isJSON: Bool {
        switch self {
        case .json: true
        case .any, .xml, .plist, .image: false
        case .compound(let members): members.contains(where: \.isJSON)
        }
    }

    /// True if XML is among the accepted bodies.
    var isXML: Bool {
        switch self {
        case .xml: true
        case .any, .json, .plist, .image: false
        case .compound(let members): members.contains(where: \.isXML)
        }
    }
}
