// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

/// The rule for a body, by an OpenAPI document.
package enum OpenAPIBodyRule: Sendable {
    /// The media type is JSON, and the body must keep to this schema.
    case schema(JSONSchema)
    /// The media type is declared, but the body cannot be judged.
    case anyBody
    /// The message is declared without a body.
    case noBody
    /// The status is not declared, as this sentence says: `has the status 418, which GET /pets does not declare; …`.
    case undeclaredStatus(String)
    /// The media type is not declared, or is missing, as this sentence says.
    case undeclaredType(String)
}

/// A media type of a body.
struct OpenAPIMediaType: Sendable {
    let range: MediaRange
    /// The number in the document's graph; nil if there is no schema.
    let schema: Int?
    /// The values of `example` and `examples`, with their names; `example` has none.
    let examples: [(name: String?, value: Parameter)]
}

/// The media types of a body and their schemas.
struct OpenAPIContent: Sendable {
    /// Empty if the document does not describe a body.
    var types: [OpenAPIMediaType]

    /// The rule for a body with a media type; the most specific range counts.
    ///
    /// - Parameters:
    ///   - name: the subject of the sentence, as in `GET /pets`.
    ///   - schema: returns the schema with the given number.
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
        // A range like application/* has one schema for all its types; only JSON can be judged by it.
        guard type.isJSON, let number = best.schema else { return .anyBody }
        return .schema(schema(number))
    }
}
