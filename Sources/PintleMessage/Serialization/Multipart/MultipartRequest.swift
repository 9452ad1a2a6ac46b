// SPDX-License-Identifier: Apache-2.0

/// A request that carries a form, as a serializer made it.
public struct MultipartRequest: Sendable {
    /// What follows the head.
    public enum Body: Sendable {
        /// Nothing, or what the serializer makes without parameters: the form had no parts.
        case bytes([UInt8]?)
        /// The parts.
        case form(MultipartForm)
    }

    /// The head with the form's Content-Type. Fields that frame the body are left as they were: whoever sends the
    /// request writes them, from ``MultipartForm/contentLength``.
    public var head: RequestHead
    /// The body.
    public var body: Body
}

extension RequestSerializer {
    /// Makes a request like `head`, with this serializer's default fields, that carries `form` in place of parameters.
    ///
    /// The form's Content-Type replaces any that is there. A form without parts leaves the request as it is without
    /// parameters.
    ///
    /// - Throws: `.unsupportedMethod` for GET and HEAD, in any case of letters, whose content has no meaning (RFC 9110
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
