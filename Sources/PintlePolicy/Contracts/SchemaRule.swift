// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleSchema

/// A schema as a rule of a contract. Two are equal when they have the same name.
struct SchemaRule: JSONDocumentRule {
    /// Its file, or the operation of which it is a part.
    private let name: String
    private let schema: JSONSchema

    init(_ name: String, _ schema: JSONSchema) {
        self.name = name
        self.schema = schema
    }

    /// Reads and compiles the schema in `file`, and what it refers to.
    ///
    /// - Throws: what is wrong with it, and where.
    init(_ file: String, surroundings: Surroundings) throws(Malformed) {
        self.name = file
        let document = try DocumentFile.read(file, surroundings)
        do throws(SchemaError) {
            self.schema = try JSONSchema(document, name: file) { try DocumentFile.read($0, surroundings) }
        } catch {
            throw Malformed(error.description)
        }
    }

    func violations(of document: Parameter) -> [String] { self.schema.violations(of: document) }

    static func == (left: SchemaRule, right: SchemaRule) -> Bool { left.name == right.name }
}
