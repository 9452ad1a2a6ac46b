// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

/// A response that an operation declares.
struct OpenAPIResponse: Sendable {
    /// A field of the header section.
    struct Field: Sendable {
        let name: String
        let isRequired: Bool
        let schema: Int?
        let example: Parameter?
    }

    let content: OpenAPIContent
    let fields: [Field]
}
