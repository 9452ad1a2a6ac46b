// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

/// A place in one of the documents.
struct SchemaPlace: Hashable {
    let document: Int
    let pointer: ExactName

    init(_ document: Int, _ pointer: String) {
        self.document = document
        self.pointer = ExactName(pointer)
    }
}

/// A schema that was found but not read yet.
struct SchemaSource {
    let place: SchemaPlace
    let value: Parameter
    /// The URI that references in it are resolved against.
    let base: SchemaURI
    let resource: Int
}

/// A document as it was read.
struct SchemaDocument: Sendable, Equatable {
    enum Dialect: Sendable {
        case draft202012
        /// OpenAPI 3.0: an older draft with changes of its own.
        case openAPI30
    }

    /// The name in messages; relative references to files are resolved against it.
    let name: String
    let root: Parameter
    let dialect: Dialect

    func location(_ pointer: String) -> String { "\(self.name)#\(pointer)" }
}
