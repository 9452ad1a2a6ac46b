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
            var reader = ExtensionReader(value)
            guard let part = reader.list() else { return nil }
            list += part
        }
        return list
    }
}

/// Parses a list of extensions.
private struct ExtensionReader {
    private let bytes: [UInt8]
    private var place = 0

    init(_ text: String) { self.bytes = Array(text.utf8) }

    mutating func list() -> [WebSocketExtension]? {
        var list: [WebSocketExtension] = []
        while true {
            self.skipSpace()
            // A list may have empty members (RFC 9110 §5.6.1.2).
            if self.take(",") { continue }
            guard self.place < self.bytes.count else { return list }
            guard let member = self.member() else { return nil }
            list.append(member)
            self.skipSpace()
            guard self.place == self.bytes.count || self.take(",") else { return nil }
        }
    }

    private mutating func member() -> WebSocketExtension? {
        guard let name = self.token() else { return nil }
        var parameters: [WebSocketExtension.Parameter] = []
        while true {
            self.skipSpace()
            guard self.take(";") else { return WebSocketExtension(name: name, parameters: parameters) }
            self.skipSpace()
            guard let name = self.token() else { return nil }
            self.skipSpace()
            var value: String?
            if self.take("=") {
                self.skipSpace()
                value = self.take("\"") ? self.quoted() : self.token()
                guard value != nil else { return nil }
            }
            parameters.append(.init(name: name, value: value))
        }
    }

    private mutating func token() -> String? {
        let start = self.place
        while self.place < self.bytes.count, ASCII.isTokenByte(self.bytes[self.place]) { self.place += 1 }
        return self.place > start ? String(decoding: self.bytes[start..<self.place], as: UTF8.self) : nil
    }

    /// Reads the rest of a quoted string; its content must be a token (RFC 6455 §9.1).
    private mutating func quoted() -> String? {
        var text: [UInt8] = []
        while self.place < self.bytes.count, !self.take("\"") {
            if self.take("\\"), self.place == self.bytes.count { return nil }
            guard ASCII.isTokenByte(self.bytes[self.place]) else { return nil }
            text.append(self.bytes[self.place])
            self.place += 1
        }
        guard !text.isEmpty, self.bytes[self.place - 1] == UInt8(ascii: "\"") else { return nil }
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func skipSpace() {
        while self.place < self.bytes.count, self.bytes[self.place] == 0x20 || self.bytes[self.place] == 0x09 {
            self.place += 1
        }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard self.place < self.bytes.count, self.bytes[self.place] == UInt8(ascii: character) else { return false }
        self.place += 1
        return true
    }
}
