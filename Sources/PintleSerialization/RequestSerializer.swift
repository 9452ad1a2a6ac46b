// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

/// Writes parameters into a request.
public protocol RequestSerializer: Sendable {
    /// Returns a request like `head` with `parameters`.
    ///
    /// - Parameter parameters: nil if there are none, which is not the same as an empty dictionary.
    /// - Throws: `.unserializable` with the path of the value that has no form in the format, `.unencodable`,
    ///   `.unsupportedTarget`, or the error of a query block.
    func serialize(_ head: RequestHead, parameters: Parameter?) throws(SerializationError) -> SerializedRequest
}

/// The result of serializing a request.
public struct SerializedRequest: Sendable, Equatable {
    /// The head with the target and fields to send. Fields that frame the body, such as Content-Length, are unchanged: the
    /// sender of the request writes them.
    public var head: RequestHead
    /// The body that the serializer made; nil if it made none, and the original body of the request stays.
    public var body: [UInt8]?

    /// Makes a serialized request.
    public init(head: RequestHead, body: [UInt8]?) {
        self.head = head
        self.body = body
    }
}
