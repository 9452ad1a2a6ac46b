// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// What an OpenAPI document says of one method of one path.
package struct OpenAPIOperation: Sendable {
    /// The statuses that a response may be declared for.
    enum StatusRange: Hashable, Sendable {
        case exact(UInt16)
        /// `2XX`, by its first digit.
        case hundred(UInt16)
        case other

        /// - Returns: nil where `key` is no status.
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
    /// The `operationId`, where there is one.
    package let identifier: String?
    /// Whether a request must have a body. Default false, as in OpenAPI.
    package let requiresBody: Bool
    let responses: [(range: StatusRange, content: OpenAPIContent)]
    let request: OpenAPIContent?
    let parameters: [OpenAPIParameter]
    let options: SchemaOptions
    /// All schemas of the document; there when all operations are read.
    var graph = SchemaGraph()

    /// The rule for the body of a response.
    ///
    /// The status itself counts before its range (`2XX`), and that before `default`. Media types compare without their
    /// parameters, and the most specific one counts.
    ///
    /// - Parameter contentType: the value of the field, or nil where there is none.
    package func responseRule(status: UInt16, contentType: String?) -> OpenAPIBodyRule {
        for range in [StatusRange.exact(status), .hundred(status / 100), .other] {
            guard let content = self.responses.first(where: { $0.range == range })?.content else { continue }
            return content.rule(for: contentType, of: "\(self.name) with status \(status)", schema: self.schema)
        }
        let declared = Wording.list(self.responses.map(\.range.text), "and")
        return .undeclaredStatus(
            "has the status \(status), which \(self.name) does not declare; it declares \(declared)")
    }

    /// The rule for the body of a request that has one; ``requiresBody`` says whether it must.
    ///
    /// - Parameter contentType: the value of the field, or nil where there is none.
    package func requestRule(contentType: String?) -> OpenAPIBodyRule {
        self.request.map { $0.rule(for: contentType, of: self.name, schema: self.schema) } ?? .noBody
    }

    /// What is wrong with the parameters of a request, in sentences: `the query parameter limit: must be …`.
    ///
    /// Only parameters that the document declares are looked at; see `docs/schema.md` for those that are only looked
    /// for.
    ///
    /// - Parameters:
    ///   - pathValues: as ``OpenAPIDocument/Match/pathValues`` has them.
    ///   - query: of the target, without question mark, or nil where there is none.
    ///   - header: the values of the field of a name, which compares without regard to case.
    ///   - isSecret: whether the value of a parameter must not be quoted, whatever the options say. Default: none is.
    ///   - budget: after an interruption of it the result means nothing.
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
            case .query: texts = query.filter { ExactText.areEqual($0.name, parameter.name) }.map(\.value)
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
