// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import PintleMessage
package import PintleSerialization

/// The reason why an entry of an HTTP archive is malformed, without its place.
package struct ArchiveFault: Error, Sendable, Equatable {
    package let reason: String

    package init(_ reason: String) { self.reason = reason }
}

/// Reads parts of the entries of HTTP archives (HAR 1.2), with the habits of the programs that write them.
package enum ArchiveEntry {
    package struct Line: Sendable, Equatable {
        package let name: String
        package let value: String
    }

    /// Returns the field lines. Chromium joins lines of one name with line feeds.
    package static func lines(_ headers: [Parameter]) throws(ArchiveFault) -> [Line] {
        var lines: [Line] = []
        for header in headers {
            guard let name = header.text("name"), let value = header.text("value") else {
                throw ArchiveFault("a header has no name and value")
            }
            for part in value.split(separator: "\n", omittingEmptySubsequences: false) {
                let isName = FieldSyntax.isName(name.hasPrefix(":") ? String(name.dropFirst()) : name)
                let value = String(part.drop { $0 == " " })
                guard isName, FieldSyntax.isValue(value) else {
                    throw ArchiveFault("a header is no field: \(name.debugDescription)")
                }
                lines.append(Line(name: name, value: value))
            }
        }
        return lines
    }

    /// Returns the bytes of `postData` or `content`; nil if there is no text, or no base64 where it should be.
    package static func body(_ data: Parameter?) -> [UInt8]? {
        guard let data, let text = data.text("text") else { return nil }
        // HAR has a member for this in `content` alone; programs have their own in `postData`.
        let isBase64 = data.text("encoding") == "base64" || data.text("_encoding") == "base64"
        return isBase64 ? Data(base64Encoded: text).map { Array($0) } : Array(text.utf8)
    }
}

/// The form of HTTP archives (HAR 1.2), for writing.
package enum ArchiveDocument {
    /// An archive of entries.
    package static func archive(_ entries: [Parameter], version: String, comment: String? = nil) -> Parameter {
        .object([
            (
                "log",
                .object([
                    ("version", "1.2"),
                    ("creator", .object([("name", "pintle"), ("version", .string(version))])),
                    ("pages", .array([])), ("entries", .array(entries)), ("comment", comment.map { .string($0) }),
                ])
            )
        ])
    }

    package static func headers(_ pairs: [(name: String, value: String)]) -> Parameter {
        .array(pairs.map { .object([("name", .string($0.name)), ("value", .string($0.value))]) })
    }

    /// The parameters of a URL, in which secret values must be redacted already.
    package static func query(_ url: String) -> Parameter {
        guard let mark = url.firstIndex(of: "?") else { return .array([]) }
        let query = url[url.index(after: mark)...].prefix { $0 != "#" }
        return .array(
            query.split(separator: "&").map { pair in
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return .object([
                    ("name", .string(String(parts[0]))), ("value", .string(parts.count > 1 ? String(parts[1]) : "")),
                ])
            })
    }

    /// A body as `text`, or as base64 if it is no text.
    package static func content(_ bytes: [UInt8], encodingName: String) -> [(String, Parameter?)] {
        if let text = String(validating: bytes, as: UTF8.self) { return [("text", .string(text))] }
        return [("text", .string(Data(bytes).base64EncodedString())), (encodingName, "base64")]
    }
}
