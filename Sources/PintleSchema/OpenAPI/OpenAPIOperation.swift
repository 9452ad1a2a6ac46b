// SPDX-License-Identifier: Apache-2.0

package import PintleSerialization

/// The declaration of one method of one path in an OpenAPI document.
package struct OpenAPIOperation: Sendable {
    /// The statuses that a response may be declared for.
    enum StatusRange: Hashable, Sendable {
        case exact(UInt16)
        /// A range such as `2XX`, by its first digit.
        case hundred(UInt16)
        case other

        /// - Returns: nil if `key` is no status.
        init?(key: String) {
            if key == "default" {
                self = .other
                return
            }
            let digits = key.hasSuffix("XX") ? key.dropLast(2) + "00" : key[...]
            guard digits.utf8.count == 3, let status = UInt16(digits), (100...599).contains(status) else { return nil }
            self = key.hasSuffix("XX") ? .hundred(status / 100) : .exact(status)
        }

        var text: String {
            switch self {
            case .exact(let status): String(status)
            case .hundred(let digit): "\(digit)XX"
            case .other: "default"
            }
        }
    }

    /// The method and the template: `GET /pets/{id}`.
    package let name: String
    /// The `operationId`, if there is one.
    package let identifier: String?
    /// True if a request must have a body. Default false, as in OpenAPI.
    package let requiresBody: Bool
    let responses: [(range: StatusRange, response: OpenAPIResponse)]
    let request: OpenAPIContent?
    let parameters: [OpenAPIParameter]
    let options: SchemaOptions
    /// All schemas of the document; set when all operations are read.
    var graph = SchemaGraph()

    /// The rule for the body of a response.
    ///
    /// The status itself takes precedence over its range (`2XX`), and that over `default`. Media types are compared without
    /// their parameters, and the most specific one counts.
    ///
    /// - Parameter contentType: the value of the field; nil if there is none.
    package func responseRule(status: UInt16, contentType: String?) -> OpenAPIBodyRule {
        for range in [StatusRange.exact(status), .hundred(status / 100), .other] {
            guard let content = self.responses.first(where: { $0.range == range })?.response.content else { continue }
            return content.rule(for: contentType, of: "\(self.name) with status \(status)", schema: self.schema)
        }
        let declared = Wording.list(self.responses.map(\.range.text), "and")
        return .undeclaredStatus(
            "has the status \(status), which \(self.name) does not declare; it declares \(declared)")
    }

    /// The rule for the body of a request that has one; ``requiresBody`` says if it must.
    ///
    /// - Parameter contentType: the value of the field; nil if there is none.
    package func requestRule(contentType: String?) -> OpenAPIBodyRule {
        self.request.map { $0.rule(for: contentType, of: self.name, schema: self.schema) } ?? .noBody
    }

    /// The faults of a request's parameters, in sentences: `the query parameter limit: must be …`.
    ///
    /// Checks only parameters that the document declares; `docs/schema.md` lists those of which only the presence is checked.
    ///
    /// - Parameters:
    ///   - pathValues: those of ``OpenAPIDocument/Match/pathValues``.
    ///   - query: the target's, without question mark; nil if there is none.
    ///   - header: returns the values of the field with the given name, which is compared case-insensitively.
    ///   - isSecret: true if the value of a parameter must not be quoted, whatever the options say. Default: always false.
    ///   - budget: if it is interrupted, the result means nothing.
    package func parameterViolations(
        pathValues: [String: String], query: String?, header: (String) -> [String],
        isSecret: (_ location: OpenAPIParameter.Location, _ name: String) -> Bool = { _, _ in false },
        within budget: WorkBudget = .unlimited
    ) -> [String] {
        guard budget.spend(OpenAPIParameter.pairSteps * (query?.utf8.count { $0 == UInt8(ascii: "&") } ?? 0)) else {
            return []
        }
        let query = OpenAPIParameter.pairs(ofQuery: query ?? "")
        return self.parameters.flatMap { parameter in
            guard budget.spend(query.count / 8) else { return [String]() }
            let texts: [String]
            switch parameter.location {
            case .path: texts = pathValues[parameter.name].map { [$0] } ?? []
            case .query: texts = query.filter { ExactName.areEqual($0.name, parameter.name) }.map(\.value)
            case .header: texts = header(parameter.name)
            }
            return parameter.violations(
                of: texts, areSecret: isSecret(parameter.location, parameter.name), for: self.name, in: self.graph,
                within: budget, schema: self.schema)
        }
    }

    private func schema(_ number: Int) -> JSONSchema {
        JSONSchema(graph: self.graph, root: number, options: self.options)
    }
}
