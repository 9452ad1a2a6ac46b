// SPDX-License-Identifier: Apache-2.0

/// Writes parameters into a request.
public protocol RequestSerializer: Sendable {
    /// Makes a request like `head` that carries `parameters`; the argument itself is not changed.
    ///
    /// - Parameter parameters: nil where there are none, which is not the same as an empty dictionary.
    /// - Throws: `.unserializable` with the path of the value that has no form in the format, `.unencodable`,
    ///   `.unsupportedTarget`, or what a query block threw.
    func serialize(_ head: RequestHead, parameters: Parameter?) throws(SerializationError) -> SerializedRequest
}

/// A request as a serializer made it.
public struct SerializedRequest: Sendable, Equatable {
    /// The head with target and fields as they are to be sent. Fields that frame the body, such as Content-Length, are
    /// left as they were: whoever sends the request writes them.
    public var head: RequestHead
    /// The body that the serializer made; nil where it made none, and whatever body the request had still holds.
    public var body: [UInt8]?

    /// Makes a serialized request.
    public init(head: RequestHead, body: [UInt8]?) {
        self.head = head
        self.body = body
    }
}
