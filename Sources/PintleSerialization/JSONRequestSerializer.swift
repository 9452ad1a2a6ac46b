// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

/// Writes parameters into a body of type `application/json`, or into the query for methods without a body.
public struct JSONRequestSerializer: RequestSerializer {
    /// Default fields, URI methods and the query of requests without a body.
    public var http: HTTPRequestSerializer
    /// The style of the document. Default compact, keys in their own order.
    public var writingOptions: JSONWriter.Options

    /// Makes a serializer.
    public init(http: HTTPRequestSerializer = HTTPRequestSerializer(), writingOptions: JSONWriter.Options = []) {
        self.http = http
        self.writingOptions = writingOptions
    }

    /// Adds the missing default fields to `head`, and places the parameters.
    ///
    /// Requests with one of the URI methods are serialized as by ``HTTPRequestSerializer``. Without parameters, there is no
    /// body, and Content-Type is not set.
    ///
    /// - Throws: `.unserializable` with the path of the first value that JSON has no form for: sets, bytes, dates, files,
    ///   NaN, infinities, and a top level that is neither array nor dictionary.
    public func serialize(
        _ head: RequestHead, parameters: Parameter?
    ) throws(SerializationError) -> SerializedRequest {
        if self.http.placesInTarget(head) { return try self.http.serialize(head, parameters: parameters) }
        var result = SerializedRequest(head: self.http.addingDefaultFields(to: head), body: nil)
        guard let parameters else { return result }
        try head.checkTakesBody()
        result.body = try JSONWriter.write(parameters, options: self.writingOptions)
        result.head.setContentTypeIfAbsent("application/json")
        return result
    }
}
