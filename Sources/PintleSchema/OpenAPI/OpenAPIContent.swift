// SPDX-License-Identifier: Apache-2.0

/// What an OpenAPI document says of a body.
package enum OpenAPIBodyRule: Sendable {
    /// The media type is JSON, and the body must keep to this schema.
    case schema(JSONSchema)
    /// The media type is declared, and there is nothing to judge the body by.
    case anyBody
    /// The message is declared without a body.
    case noBody
    /// The status is not declared, which this sentence says: `has the status 418, which GET /pets does not declare; …`.
    case undeclaredStatus(String)
    /// The media type is not declared, or there is none, which this sentence says.
    case undeclaredType(String)
}

/// The media types of a body and their schemas.
struct OpenAPIContent: Sendable {
    /// Empty where the document says of no body what it is. Schemas are numbers in the document's graph.
    var types: [(range: MediaRange, schema: Int?)]

    /// The rule for a body of a media type; the most specific range counts.
    ///
    /// - Parameters:
    ///   - name: what the sentence is about, as in `GET /pets`.
    ///   - schema: makes a schema of its number.
    func rule(for contentType: String?, of name: String, schema: (Int) -> JSONSchema) -> OpenAPIBodyRule {
        if self.types.isEmpty { return .noBody }
        let declared = Wording.list(self.types.map(\.range.text), "and")
        guard let contentType else { return .undeclaredType("has no media type; \(name) declares \(declared)") }
        let type = MediaRange(contentType)
        let ranked = self.types.map { (rank: $0.range.rank(for: type), schema: $0.schema) }
        guard let best = ranked.max(by: { $0.rank < $1.rank }), best.rank > 0 else {
            let found = Wording.line(type.text, limit: 80)
            return .undeclaredType(
                "has the media type \(found), which \(name) does not declare; it declares \(declared)")
        }
        // A range like application/* has one schema for whatever comes; only JSON can be judged by it.
        guard type.isJSON, let number = best.schema else { return .anyBody }
        return .schema(schema(number))
    }
}
