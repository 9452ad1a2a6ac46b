// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The formats that can be asserted (validation §7.3). Any other is an annotation.
enum Format: String, Sendable {
    case dateTime = "date-time"
    case date
    case time
    case email
    case hostname
    case ipv4
    case ipv6
    case uri
    case uriReference = "uri-reference"
    case uuid
    case jsonPointer = "json-pointer"
    case regex

    /// True if `text` has the format.
    func accepts(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        switch self {
        case .dateTime: return TimestampFormat.isDateTime(bytes)
        case .date: return TimestampFormat.isDate(bytes[...])
        case .time: return TimestampFormat.isTime(bytes[...])
        case .email: return NameFormat.isEmail(bytes)
        case .hostname: return NameFormat.isHostname(bytes[...])
        case .ipv4: return NameFormat.isIPv4(text)
        case .ipv6: return NameFormat.isIPv6(text)
        case .uri: return URIFormat.isURI(bytes[...])
        case .uriReference: return URIFormat.isReference(bytes[...])
        case .uuid: return NameFormat.isUUID(bytes)
        case .jsonPointer: return JSONPointer.tokens(of: text) != nil
        case .regex: return (try? Pattern(text)) != nil
        }
    }
}
