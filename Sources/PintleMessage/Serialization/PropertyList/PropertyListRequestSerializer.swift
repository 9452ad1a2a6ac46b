// SPDX-License-Identifier: Apache-2.0

/// Writes parameters into a body of type `application/x-plist`, or into the query for the methods that have none.
public struct PropertyListRequestSerializer: RequestSerializer {
    /// Default fields, URI methods and the query of requests without a body.
    public var http: HTTPRequestSerializer
    /// How the document is written. Default XML.
    public var format: PropertyListWriter.Format

    /// Makes a serializer.
    public init(http: HTTPRequestSerializer = HTTPRequestSerializer(), format: PropertyListWriter.Format = .xml) {
        self.http = http
        self.format = format
    }

    /// Adds the default fields that `head` lacks and places the parameters.
    ///
    /// Requests with one of the URI methods are serialized as ``HTTPRequestSerializer`` does. Without parameters no body
    /// is made and no Content-Type set.
    ///
    /// - Throws: `.unserializable` as ``PropertyListWriter/write(_:format:)`` does.
    public func serialize(
        _ head: RequestHead, parameters: Parameter?
    ) throws(SerializationError) -> SerializedRequest {
        if self.http.placesInTarget(head) { return try self.http.serialize(head, parameters: parameters) }
        var result = SerializedRequest(head: self.http.addingDefaultFields(to: head), body: nil)
        guard let parameters else { return result }
        try head.checkTakesBody()
        result.body = try PropertyListWriter.write(parameters, format: self.format)
        result.head.setContentTypeIfAbsent("application/x-plist")
        return result
    }
}
