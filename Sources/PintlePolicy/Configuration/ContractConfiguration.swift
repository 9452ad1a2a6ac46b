// SPDX-License-Identifier: Apache-2.0

/// `contract`, of a route or of everything: a description that messages must keep to.
package struct ContractConfiguration: Sendable, Equatable {
    /// An OpenAPI document, as the process must open it.
    package var file: Located<String>
    /// Whether requests must keep to it too. Default false: responses only.
    package var requests = false

    package init(file: Located<String>) {
        self.file = file
    }
}
