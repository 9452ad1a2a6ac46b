// SPDX-License-Identifier: Apache-2.0

internal import PintleSchema
internal import PintleSerialization

/// Reads the documents of contracts for comparison: by content, as a file may have moved, and without regard to layout and the
/// order of members.
struct ContractDocuments {
    let surroundings: LoaderEnvironment

    /// The canonical form of a JSON Schema and the documents that it refers to.
    func schema(_ file: String) -> [UInt8] {
        self.documents(file) { document, resolve, _ in
            _ = try? JSONSchema(document, name: file, options: SchemaOptions(), resolve: resolve)
        }
    }

    /// The canonical form of an API description and the documents that it refers to.
    func contract(_ file: String) -> [UInt8] {
        self.documents(file) { document, resolve, examples in
            _ = try? OpenAPIDocument(
                document, name: file, options: SchemaOptions(), resolve: resolve, examples: examples)
        }
    }

    private func documents(
        _ file: String,
        _ compile: (Parameter, @escaping SchemaResolver, _ examples: @escaping (String) throws -> [UInt8]) -> Void
    ) -> [UInt8] {
        let surroundings = self.surroundings
        // The policy was loaded from this file, so it can be read, unless it has just changed.
        guard let document = try? DocumentFile.read(file, surroundings) else { return Array(file.utf8) }
        let collected = Collected(document)
        compile(
            document,
            { path in
                let document = try DocumentFile.read(path, surroundings)
                collected.documents.append(document)
                return document
            },
            { path in
                let bytes = try DocumentFile.bytes(path, surroundings)
                collected.documents.append(.string(String(decoding: bytes, as: UTF8.self)))
                return bytes
            })
        return collected.documents.flatMap { document in
            (try? JSONWriter.write(document, options: [.sortedKeys, .fragmentsAllowed])) ?? Array("\(document)".utf8)
        }
    }

    private final class Collected {
        var documents: [Parameter]
        init(_ first: Parameter) { self.documents = [first] }
    }
}
