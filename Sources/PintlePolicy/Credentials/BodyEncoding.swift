// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The form of texts in the body of a request, by its media type.
enum BodyEncoding: Sendable {
    case plain, form, json

    init(_ fields: Fields) {
        let type = (fields[.contentType] ?? "").lowercased().prefix { $0 != ";" && $0 != " " }
        if type == "application/x-www-form-urlencoded" {
            self = .form
        } else if type == "application/json" || type.hasSuffix("+json") {
            self = .json
        } else {
            self = .plain
        }
    }

    func encoded(_ text: [UInt8]) -> [UInt8] {
        switch self {
        case .plain: text
        case .form: CredentialForms.percentEncoded(text)
        case .json: CredentialForms.jsonEscaped(text)
        }
    }
}
