// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

/// Writes parameters into a body of type `application/x-plist`, or into the query for methods without a body.
public struct PropertyListRequestSerializer: RequestSerializer {
    /// Default fields, URI methods and the query of requests without a body.
    public var http: HTTPRequestSerializer
    /// The format of the document. Default XML.
    public var format: PropertyListWriter.Format

    /// Makes a serializer.
    public init(http: HTTPRequestSerializer = HTTPRequestSerializer(), format: PropertyListWriter.Format = .xml) {
        self.http = http
        self.format = format
    }

    /// Adds the missing default fields to `head`, and places the parameters.
    ///
    /// Requests with one of the URI methods are serialized as by ``HTTPRequestSerializer``. Without parameters, there is no
    /// body, and Content-Type is not set.
    ///
    /// - Throws: the errors of ``PropertyListWriter/write(_:format:)``.
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
