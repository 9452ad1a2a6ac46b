// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

/// Writes parameters into a body of type `multipart/form-data` (RFC 7578), or into the query for methods without a body.
///
/// The whole body is in memory, because the parameters are. For files that are read while they are sent, use a
/// ``MultipartForm``.
public struct MultipartRequestSerializer: RequestSerializer {
    /// Default fields, URI methods, the query of requests without a body, and the encoding of text values.
    public var http: HTTPRequestSerializer

    /// Makes a serializer.
    public init(http: HTTPRequestSerializer = HTTPRequestSerializer()) { self.http = http }

    /// Adds the missing default fields to `head`, and places the parameters.
    ///
    /// Requests with one of the URI methods are serialized as by ``HTTPRequestSerializer``. Without parameters, there is no
    /// body, and Content-Type is not set. Otherwise Content-Type is that of the form, with its boundary, and replaces an
    /// existing one. Parameters without a value to send, such as an empty dictionary, make a form without parts: only its
    /// end.
    ///
    /// - Throws: the errors of ``MultipartForm/init(parameters:encoding:)``; `.unsupportedMethod` for GET and HEAD if they
    ///   are not URI methods here.
    public func serialize(
        _ head: RequestHead, parameters: Parameter?
    ) throws(SerializationError) -> SerializedRequest {
        if self.http.placesInTarget(head) { return try self.http.serialize(head, parameters: parameters) }
        guard let parameters else {
            return SerializedRequest(head: self.http.addingDefaultFields(to: head), body: nil)
        }
        let form = try MultipartForm(parameters: parameters, encoding: self.http.stringEncoding)
        var result = SerializedRequest(head: try self.serialize(head, form: form).head, body: form.bytes)
        result.head.fields.set("Content-Type", form.contentType)
        return result
    }
}

extension MultipartForm {
    /// The body of a form whose parts are all bytes.
    fileprivate var bytes: [UInt8] {
        guard !self.parts.isEmpty else { return Array("--\(self.boundary)--\r\n".utf8) }
        return self.segments.reduce(into: []) { body, segment in
            guard case .bytes(let bytes) = segment else { preconditionFailure("BUG: a part that is not in memory") }
            body += bytes
        }
    }
}
