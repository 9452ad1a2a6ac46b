// SPDX-License-Identifier: Apache-2.0

package import PintleSerialization

/// A JSON Schema of draft 2020-12, compiled once and used from any thread.
///
/// The work for an instance is bounded by its size, and nothing recurses on its depth; see `docs/schema.md`.
package struct JSONSchema: Sendable {
    let graph: SchemaGraph
    let root: Int
    private(set) var options: SchemaOptions

    init(graph: SchemaGraph, root: Int, options: SchemaOptions) {
        self.graph = graph
        self.root = root
        self.options = options
    }

    /// Compiles a schema and all schemas that it refers to.
    ///
    /// - Parameters:
    ///   - document: the value that ``PintleSerialization/JSONScanner/parse(_:)`` reads.
    ///   - name: the document's path. Errors name it, and relative references are resolved against it.
    ///   - resolve: reads other files. It is not called for URLs, which are refused.
    /// - Throws: the first fault of one of the schemas.
    package init(
        _ document: Parameter, name: String, options: SchemaOptions = SchemaOptions(),
        resolve: @escaping SchemaResolver
    ) throws(SchemaError) {
        var compiler = SchemaCompiler(options: options, resolve: resolve)
        let number = try compiler.add(document, name: name, dialect: .draft202012)
        let place = SchemaPlace(number, "")
        try compiler.index(document, at: place, isRead: true)
        self.root = try compiler.number(of: document, at: place)
        self.graph = try compiler.finish()
        self.options = options
    }

    /// A copy that quotes no value of an instance in its sentences.
    package var hidingValues: JSONSchema {
        var schema = self
        schema.options.showsValues = false
        return schema
    }

    /// Judges a value.
    ///
    /// If an object has a key twice, that is a violation, and nothing else is judged: it is unknown which value counts.
    ///
    /// - Returns: the violations, at most ``SchemaOptions/violationLimit``; empty for a valid value.
    package func validate(_ instance: Parameter) -> [SchemaViolation] { self.validate(instance, within: .unlimited) }

    /// Judges a value as far as `budget` allows. If it is interrupted, the result means nothing.
    package func validate(_ instance: Parameter, within budget: WorkBudget) -> [SchemaViolation] {
        let survey = InstanceSurvey(instance, faultLimit: self.options.violationLimit, within: budget)
        guard budget.interruption == nil else { return [] }
        guard survey.faults.isEmpty else {
            return survey.faults.map { fault in
                SchemaViolation(
                    instanceLocation: fault.pointer, schemaLocation: "", keyword: "", sentence: fault.sentence)
            }
        }
        var validation = Validation(self, valueCount: survey.valueCount, within: budget)
        return validation.run(instance)
    }
}

extension JSONSchema: MeteredDocumentRule {
    /// The violations as sentences with their places: `at /items/3/price: must be at least 0, is -1`.
    package func violations(of document: Parameter) -> [String] { self.violations(of: document, within: .unlimited) }

    /// The violations as sentences with their places, as far as `budget` lets them be found.
    package func violations(of document: Parameter, within budget: WorkBudget) -> [String] {
        self.validate(document, within: budget).map(\.description)
    }

    /// Two schemas are equal if they were read from equal documents and have the same place in them.
    package static func == (left: JSONSchema, right: JSONSchema) -> Bool {
        left.root == right.root && left.options == right.options && left.graph.documents == right.graph.documents
    }
}
