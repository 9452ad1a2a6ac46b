// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import NIOCore
public import PintleSerialization

/// A body that an ``HTTPSession`` sends with a request.
public struct RequestBody: Sendable {
    enum Content: Sendable {
        /// The client's request serializer decides their place: for some methods that is the query.
        case parameters(Parameter)
        case form(MultipartForm)
        case encoded(@Sendable (JSONEncoder) throws -> Data)
        case source(UploadSource, type: String)
    }

    let content: Content

    /// A value as JSON, written by the encoder of the client's ``HTTPSession/makeEncoder``.
    public static func json(_ value: some Encodable & Sendable) -> RequestBody {
        RequestBody(content: .encoded { try $0.encode(value) })
    }

    /// Parameters, written by the client's ``HTTPSession/requestSerializer``.
    public static func parameters(_ parameters: Parameter) -> RequestBody {
        RequestBody(content: .parameters(parameters))
    }

    /// A form of parts, `multipart/form-data`. Its files and streams are read while they are sent.
    public static func multipart(_ form: MultipartForm) -> RequestBody { RequestBody(content: .form(form)) }

    /// Bytes of a media type.
    public static func bytes(_ bytes: some Sequence<UInt8>, type: String = FileMediaType.unknown) -> RequestBody {
        RequestBody(content: .source(.bytes(ByteBuffer(bytes: bytes)), type: type))
    }

    /// Text in UTF-8.
    public static func text(_ text: String, type: String = "text/plain; charset=utf-8") -> RequestBody {
        RequestBody(content: .source(.bytes(ByteBuffer(string: text)), type: type))
    }

    /// A regular file, read while it is sent.
    ///
    /// - Parameter type: the media type; if nil, it is derived from the name's extension.
    public static func file(_ path: String, type: String? = nil) -> RequestBody {
        RequestBody(content: .source(.file(path: path), type: type ?? FileMediaType.named(path)))
    }

    /// Bytes that arrive while they are being sent.
    public static func stream(_ stream: BodyStream, type: String = FileMediaType.unknown) -> RequestBody {
        RequestBody(content: .source(.stream(stream), type: type))
    }
}
