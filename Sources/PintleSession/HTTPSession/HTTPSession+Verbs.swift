// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

/// The methods of HTTP, each waited for. All throw as ``HTTPSession/task(_:_:parameters:fields:as:)`` and
/// ``HTTPTask/run()`` do.
extension HTTPSession {
    /// Reads a resource; parameters go into the query.
    public func get<Serializer: ResponseSerializer>(
        _ url: String, parameters: Parameter? = nil, fields: Fields = Fields(),
        as serializer: Serializer = JSONResponseSerializer()
    ) async throws(SessionError) -> HTTPResponse<Serializer.Output> {
        try await self.task("GET", url, parameters: parameters, fields: fields, as: serializer).run()
    }

    /// Asks for the head of what GET would bring.
    public func head(
        _ url: String, parameters: Parameter? = nil, fields: Fields = Fields()
    ) async throws(SessionError) -> ResponseHead {
        try await self.task("HEAD", url, parameters: parameters, fields: fields, as: HTTPResponseSerializer()).run()
            .head
    }

    /// Sends parameters in a body.
    public func post<Serializer: ResponseSerializer>(
        _ url: String, parameters: Parameter? = nil, fields: Fields = Fields(),
        as serializer: Serializer = JSONResponseSerializer()
    ) async throws(SessionError) -> HTTPResponse<Serializer.Output> {
        try await self.task("POST", url, parameters: parameters, fields: fields, as: serializer).run()
    }

    /// Sends a form of parts, its files and streams as they are read.
    public func post<Serializer: ResponseSerializer>(
        _ url: String, form: MultipartForm, fields: Fields = Fields(),
        as serializer: Serializer = JSONResponseSerializer()
    ) async throws(SessionError) -> HTTPResponse<Serializer.Output> {
        try await self.task("POST", url, form: form, fields: fields, as: serializer).run()
    }

    /// Puts a resource in place.
    public func put<Serializer: ResponseSerializer>(
        _ url: String, parameters: Parameter? = nil, fields: Fields = Fields(),
        as serializer: Serializer = JSONResponseSerializer()
    ) async throws(SessionError) -> HTTPResponse<Serializer.Output> {
        try await self.task("PUT", url, parameters: parameters, fields: fields, as: serializer).run()
    }

    /// Changes a part of a resource.
    public func patch<Serializer: ResponseSerializer>(
        _ url: String, parameters: Parameter? = nil, fields: Fields = Fields(),
        as serializer: Serializer = JSONResponseSerializer()
    ) async throws(SessionError) -> HTTPResponse<Serializer.Output> {
        try await self.task("PATCH", url, parameters: parameters, fields: fields, as: serializer).run()
    }

    /// Removes a resource; parameters go into the query.
    public func delete<Serializer: ResponseSerializer>(
        _ url: String, parameters: Parameter? = nil, fields: Fields = Fields(),
        as serializer: Serializer = JSONResponseSerializer()
    ) async throws(SessionError) -> HTTPResponse<Serializer.Output> {
        try await self.task("DELETE", url, parameters: parameters, fields: fields, as: serializer).run()
    }
}
