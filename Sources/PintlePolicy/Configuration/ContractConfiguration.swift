// SPDX-License-Identifier: Apache-2.0

/// `contract`, of a route or of the whole configuration: an API description that messages must keep to.
package struct ContractConfiguration: Sendable, Equatable {
    /// The path of an OpenAPI document, resolved so that the process can open it.
    package var file: Located<String>
    /// True if requests must keep to it, too. Default false: responses only.
    package var requests = false

    package init(file: Located<String>) {
        self.file = file
    }
}
