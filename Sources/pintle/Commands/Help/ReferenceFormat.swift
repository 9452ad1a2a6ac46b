// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// The form in which a page is written.
enum ReferenceFormat: String, CaseIterable, ExpressibleByArgument {
    case text, markdown, json

    /// The page, without a line end.
    func text(of page: ReferencePage) -> String {
        switch self {
        case .text: ReferenceText(page).text
        case .markdown: ReferenceMarkdown(page).text
        case .json: ReferenceJSON(page).text
        }
    }
}
