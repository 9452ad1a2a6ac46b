// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSchema

/// The value that a JSON text stands for; scalars may stand alone.
func json(_ text: String) throws -> Parameter { try JSONScanner(fragmentsAllowed: true).parse(Array(text.utf8)) }

/// A schema in `schema.json`, with other files by their names.
func schema(
    _ text: String, files: [String: String] = [:], options: SchemaOptions = SchemaOptions()
) throws -> JSONSchema {
    try JSONSchema(json(text), name: "schema.json", options: options, resolve: reader(of: files))
}

func reader(of files: [String: String]) -> SchemaResolver {
    { name in
        guard let text = files[name] else { throw NoSuchFile() }
        return try json(text)
    }
}

struct NoSuchFile: Error, CustomStringConvertible { let description = "there is no such file" }

/// What a schema is refused with, or nil.
func refusal(of text: String, files: [String: String] = [:]) throws -> String? {
    do {
        _ = try schema(text, files: files)
        return nil
    } catch let error as SchemaError {
        return error.description
    }
}
