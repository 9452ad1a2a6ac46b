// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// A place in one of the documents.
struct SchemaPlace: Hashable {
    let document: Int
    let pointer: ExactText

    init(_ document: Int, _ pointer: String) {
        self.document = document
        self.pointer = ExactText(pointer)
    }
}

/// A schema that was found but not read yet.
struct SchemaSource {
    let place: SchemaPlace
    let value: Parameter
    /// Against which its references are resolved.
    let base: SchemaURI
    let resource: Int
}

/// A document as it was read.
struct SchemaDocument: Sendable, Equatable {
    enum Dialect: Sendable {
        case draft202012
        /// OpenAPI 3.0, whose schemas are an older draft with changes of their own.
        case openAPI30
    }

    /// What messages call it, and what relative references to files are resolved against.
    let name: String
    let root: Parameter
    let dialect: Dialect

    func location(_ pointer: String) -> String { "\(self.name)#\(pointer)" }
}
