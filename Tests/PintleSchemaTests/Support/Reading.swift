// SPDX-License-Identifier: Apache-2.0

import PintleSchema
import PintleSerialization

/// Returns the value of a JSON text, which may be a single scalar.
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

/// Reads the files of examples by their names.
func bytes(of files: [String: String]) -> @Sendable (String) throws -> [UInt8] {
    { name in
        guard let text = files[name] else { throw NoSuchFile() }
        return Array(text.utf8)
    }
}

struct NoSuchFile: Error, CustomStringConvertible { let description = "there is no such file" }

/// Returns the error with which a schema is refused, or nil.
func refusal(of text: String, files: [String: String] = [:]) throws -> String? {
    do {
        _ = try schema(text, files: files)
        return nil
    } catch let error as SchemaError {
        return error.description
    }
}
