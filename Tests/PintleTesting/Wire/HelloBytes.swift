// SPDX-License-Identifier: Apache-2.0

/// The bytes of a ClientHello (RFC 8446 §4.1.2), for hellos that no TLS library sends.
package struct HelloBytes: Sendable {
    /// The body of the message.
    package let body: [UInt8]

    /// A hello that names a server, or none.
    ///
    /// - Parameters:
    ///   - padding: the number of bytes of an extension without meaning.
    ///   - isNew: true if the hello offers TLS 1.3.
    ///   - announcesData: true if the hello announces early data.
    package init(_ name: String?, padding: Int = 0, isNew: Bool = false, announcesData: Bool = false) {
        var extensions = Self.extension(10, [0, 2, 0, 29])
        if let name { extensions += Self.names(Self.name(name)) }
        if isNew { extensions += Self.extension(43, [2, 3, 4]) }
        if announcesData { extensions += Self.extension(42, []) }
        if padding > 0 { extensions += Self.extension(21, [UInt8](repeating: 0, count: padding)) }
        self.init(extensions: extensions)
    }

    /// A hello with these extensions; nil leaves out even their length.
    package init(extensions: [UInt8]?) {
        let random = [UInt8](repeating: 7, count: 32)
        let head = [3, 3] + random + [2, 5, 5, 0, 4, 0x13, 1, 0xC0, 0x2F, 1, 0]
        self.body = head + (extensions.map { Self.length($0.count, 2) + $0 } ?? [])
    }

    /// The message.
    package var message: [UInt8] { Self.message(self.body) }

    /// The message in one record.
    package var record: [UInt8] { Self.record(self.message) }

    /// Returns a handshake message, by default a ClientHello.
    package static func message(_ body: [UInt8], type: UInt8 = 1) -> [UInt8] {
        [type] + Self.length(body.count, 3) + body
    }

    /// Returns a record, by default of a handshake.
    package static func record(_ payload: [UInt8], type: UInt8 = 22) -> [UInt8] {
        [type, 3, 1] + Self.length(payload.count, 2) + payload
    }

    /// Returns the server_name extension with these entries.
    package static func names(_ entries: [UInt8]) -> [UInt8] {
        Self.extension(0, Self.length(entries.count, 2) + entries)
    }

    /// Returns the server_name entry of a host.
    package static func name(_ host: String) -> [UInt8] { [0] + Self.length(host.utf8.count, 2) + Array(host.utf8) }

    package static func `extension`(_ type: Int, _ content: [UInt8]) -> [UInt8] {
        Self.length(type, 2) + Self.length(content.count, 2) + content
    }

    private static func length(_ count: Int, _ size: Int) -> [UInt8] {
        (0..<size).reversed().map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) }
    }
}
