// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
internal import NIOCore
public import PintleMessage
public import PintleSession

/// An answer of a ``RecordingSession``.
public struct RecordedAnswer: Sendable {
    let response: @Sendable () async throws -> LocalResponse

    /// Answers with a response.
    public static func response(_ response: LocalResponse) -> RecordedAnswer { RecordedAnswer { response } }

    /// Answers with a status and fields, without a body.
    public static func status(_ status: UInt16, fields: Fields = Fields()) -> RecordedAnswer {
        .response(LocalResponse(ResponseHead(status: status, fields: fields)))
    }

    /// Answers with a value as JSON.
    public static func json(
        _ value: some Encodable & Sendable, status: UInt16 = 200, encoder: JSONEncoder = JSONEncoder()
    ) -> RecordedAnswer {
        let bytes = Result { try encoder.encode(value) }
        return RecordedAnswer {
            LocalResponse(
                ResponseHead(status: status, fields: ["Content-Type": "application/json"]),
                body: ByteBuffer(bytes: try bytes.get()))
        }
    }

    /// Answers with text in UTF-8.
    public static func text(
        _ text: String, status: UInt16 = 200, type: String = "text/plain; charset=utf-8"
    ) -> RecordedAnswer {
        .response(
            LocalResponse(ResponseHead(status: status, fields: ["Content-Type": type]), body: ByteBuffer(string: text)))
    }

    /// Answers with bytes of a media type.
    public static func bytes(_ bytes: some Sequence<UInt8>, status: UInt16 = 200, type: String) -> RecordedAnswer {
        .response(
            LocalResponse(ResponseHead(status: status, fields: ["Content-Type": type]), body: ByteBuffer(bytes: bytes)))
    }

    /// Answers with a redirect.
    public static func redirect(to url: String, status: UInt16 = 302) -> RecordedAnswer {
        .status(status, fields: ["Location": url])
    }

    /// Fails with an error instead of a response.
    public static func failure(_ error: SessionError) -> RecordedAnswer { RecordedAnswer { throw error } }
}
