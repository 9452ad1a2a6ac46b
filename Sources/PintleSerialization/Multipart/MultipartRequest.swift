// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

/// A request with a form, as made by a serializer.
public struct MultipartRequest: Sendable {
    /// The content after the head.
    public enum Body: Sendable {
        /// No form, because it had no parts: the body that the serializer makes without parameters, if any.
        case bytes([UInt8]?)
        /// The parts.
        case form(MultipartForm)
    }

    /// The head with the form's Content-Type. Fields that frame the body are unchanged: the sender of the request writes
    /// them, using ``MultipartForm/contentLength``.
    public var head: RequestHead
    /// The body.
    public var body: Body
}

extension RequestSerializer {
    /// Returns a request like `head`, with this serializer's default fields, and with `form` instead of parameters.
    ///
    /// The form's Content-Type replaces an existing one. With a form without parts, the request is the one without
    /// parameters.
    ///
    /// - Throws: `.unsupportedMethod` for GET and HEAD, ignoring case, because their content has no meaning (RFC 9110
    ///   §9.3.1, §9.3.2); `.unsupportedTarget` for CONNECT.
    public func serialize(_ head: RequestHead, form: MultipartForm) throws(SerializationError) -> MultipartRequest {
        let method = head.method.uppercased()
        guard method != "GET", method != "HEAD" else {
            throw SerializationError(.unsupportedMethod, "a \(method) request cannot carry a form; use POST or PUT.")
        }
        try head.checkTakesBody()
        let plain = try self.serialize(head, parameters: nil)
        guard !form.parts.isEmpty else { return MultipartRequest(head: plain.head, body: .bytes(plain.body)) }
        var result = MultipartRequest(head: plain.head, body: .form(form))
        result.head.fields.set("Content-Type", form.contentType)
        return result
    }
}
