// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// One extension in a Sec-WebSocket-Extensions field (RFC 6455 §9.1).
struct WebSocketExtension: Sendable, Equatable {
    struct Parameter: Sendable, Equatable {
        let name: String
        /// The value; nil if the parameter has only a name.
        let value: String?
    }

    let name: String
    let parameters: [Parameter]

    /// Reads the values of all Sec-WebSocket-Extensions fields of a message.
    ///
    /// - Returns: nil if their syntax is invalid.
    static func list(_ values: [String]) -> [WebSocketExtension]? {
        var list: [WebSocketExtension] = []
        for value in values {
            var scanner = FieldScanner(Array(value.utf8)[...])
            scanner.skipCommas()
            while !scanner.rest.isEmpty {
                guard let member = Self.member(&scanner), scanner.isAtMemberEnd else { return nil }
                list.append(member)
                scanner.skipCommas()
            }
        }
        return list
    }

    private static func member(_ scanner: inout FieldScanner) -> WebSocketExtension? {
        guard let name = scanner.token() else { return nil }
        var parameters: [Parameter] = []
        scanner.skipSpaces()
        while scanner.take(";") {
            scanner.skipSpaces()
            guard let name = scanner.token() else { return nil }
            scanner.skipSpaces()
            var value: String?
            if scanner.take("=") {
                scanner.skipSpaces()
                // The content of a quoted string must be a token, too (RFC 6455 §9.1).
                guard let text = scanner.tokenOrQuotedString(), ASCII.isToken(text) else { return nil }
                value = String(decoding: text, as: UTF8.self)
                scanner.skipSpaces()
            }
            parameters.append(Parameter(name: String(decoding: name, as: UTF8.self), value: value))
        }
        return WebSocketExtension(name: String(decoding: name, as: UTF8.self), parameters: parameters)
    }
}
