// SPDX-License-Identifier: Apache-2.0

public import PintleMessage
public import PintleSerialization

/// Functions for the methods of HTTP, which wait for the response. All throw like ``send(_:_:body:as:_:)``.
///
/// With a type they return a value of that type, decoded from JSON; a response without content, such as 204, is then an
/// error unless the type is optional. With a serializer they return its output, and the head. With neither they return
/// the bytes.
extension HTTPSending {
    // MARK: Without a body

    /// Reads a resource; parameters go into the query.
    public func get<Value: Decodable & Sendable>(
        _ url: String, parameters: Parameter? = nil, as type: Value.Type, _ shape: HTTPSession.Shaping = { _ in }
    ) async throws(SessionError) -> Value {
        try await self.value(type, "GET", url, parameters.map { .parameters($0) }, shape)
    }

    /// Reads a resource; parameters go into the query.
    public func get<Serializer: ResponseSerializer>(
        _ url: String, parameters: Parameter? = nil,
        as serializer: Serializer = HTTPResponseSerializer(), _ shape: HTTPSession.Shaping = { _ in }
    ) async throws(SessionError) -> HTTPResponse<Serializer.Output> {
        try await self.response(serializer, "GET", url, parameters.map { .parameters($0) }, shape)
    }

    /// Requests the head of the response that GET would get.
    public func head(
        _ url: String, parameters: Parameter? = nil, _ shape: HTTPSession.Shaping = { _ in }
    ) async throws(SessionError) -> ResponseHead {
        try await self.response(HTTPResponseSerializer(), "HEAD", url, parameters.map { .parameters($0) }, shape).head
    }

    /// Removes a resource; parameters go into the query.
    public func delete<Value: Decodable & Sendable>(
        _ url: String, parameters: Parameter? = nil, as type: Value.Type, _ shape: HTTPSession.Shaping = { _ in }
    ) async throws(SessionError) -> Value {
        try await self.value(type, "DELETE", url, parameters.map { .parameters($0) }, shape)
    }

    /// Removes a resource; parameters go into the query.
    @discardableResult
    public func delete<Serializer: ResponseSerializer>(
        _ url: String, parameters: Parameter? = nil,
        as serializer: Serializer = HTTPResponseSerializer(), _ shape: HTTPSession.Shaping = { _ in }
    ) async throws(SessionError) -> HTTPResponse<Serializer.Output> {
        try await self.response(serializer, "DELETE", url, parameters.map { .parameters($0) }, shape)
    }

    // MARK: POST

    /// Sends a value as JSON to a resource, for example to make a new one below it.
    public func post<Value: Decodable & Sendable>(
        _ url: String, json: some Encodable & Sendable, as type: Value.Type, _ shape: HTTPSession.Shaping = { _ in }
    ) async throws(SessionError) -> Value {
        try await self.value(type, "POST", url, .json(json), shape)
    }

    /// Sends a value as JSON to a resource, for example to make a new one below it.
    @discardableResult
    public func post<Serializer: ResponseSerializer>(
        _ url: String, json: some Encodable & Sendable,
        as serializer: Serializer = HTTPResponseSerializer(), _ shape: HTTPSession.Shaping = { _ in }
    ) async throws(SessionError) -> HTTPResponse<Serializer.Output> {
        try await self.response(serializer, "POST", url, .json(json), shape)
    }

    /// Sends a body of any kind to a resource, for example to make a new one below it.
    public func post<Value: Decodable & Sendable>(
        _ url: String, body: RequestBody? = nil, as type: Value.Type, _ shape: HTTPSession.Shaping = { _ in }
    ) async throws(SessionError) -> Value {
        try await self.value(type, "POST", url, body, shape)
    }

    /// Sends a body of any kind to a resource, for example to make a new one below it.
    @discardableResult
    public func post<Serializer: ResponseSerializer>(
        _ url: String, body: RequestBody? = nil,
        as serializer: Serializer = HTTPResponseSerializer(), _ shape: HTTPSession.Shaping = { _ in }
    ) async throws(SessionError) -> HTTPResponse<Serializer.Output> {
        try await self.response(serializer, "POST", url, body, shape)
    }

    // MARK: PUT

    /// Makes or replaces a resource with a value as JSON.
    public func put<Value: Decodable & Sendable>(
        _ url: String, json: some Encodable & Sendable, as type: Value.Type, _ shape: HTTPSession.Shaping = { _ in }
    ) async throws(SessionError) -> Value {
        try await self.value(type, "PUT", url, .json(json), shape)
    }

    /// Makes or replaces a resource with a value as JSON.
    @discardableResult
    public func put<Serializer: ResponseSerializer>(
        _ url: String, json: some Encodable & Sendable,
        as serializer: Serializer = HTTPResponseSerializer(), _ shape: HTTPSession.Shaping = { _ in }
    ) async throws(SessionError) -> HTTPResponse<Serializer.Output> {
        try await self.response(serializer, "PUT", url, .json(json), shape)
    }

    /// Makes or replaces a resource with a body of any kind.
    public func put<Value: Decodable & Sendable>(
        _ url: String, body: RequestBody? = nil, as type: Value.Type, _ shape: HTTPSession.Shaping = { _ in }
    ) async throws(SessionError) -> Value {
        try await self.value(type, "PUT", url, body, shape)
    }

    /// Makes or replaces a resource with a body of any kind.
    @discardableResult
    public func put<Serializer: ResponseSerializer>(
        _ url: String, body: RequestBody? = nil,
        as serializer: Serializer = HTTPResponseSerializer(), _ shape: HTTPSession.Shaping = { _ in }
    ) async throws(SessionError) -> HTTPResponse<Serializer.Output> {
        try await self.response(serializer, "PUT", url, body, shape)
    }

    // MARK: PATCH

    /// Changes a part of a resource with a value as JSON.
    public func patch<Value: Decodable & Sendable>(
        _ url: String, json: some Encodable & Sendable, as type: Value.Type, _ shape: HTTPSession.Shaping = { _ in }
    ) async throws(SessionError) -> Value {
        try await self.value(type, "PATCH", url, .json(json), shape)
    }

    /// Changes a part of a resource with a value as JSON.
    @discardableResult
    public func patch<Serializer: ResponseSerializer>(
        _ url: String, json: some Encodable & Sendable,
        as serializer: Serializer = HTTPResponseSerializer(), _ shape: HTTPSession.Shaping = { _ in }
    ) async throws(SessionError) -> HTTPResponse<Serializer.Output> {
        try await self.response(serializer, "PATCH", url, .json(json), shape)
    }

    /// Changes a part of a resource with a body of any kind.
    public func patch<Value: Decodable & Sendable>(
        _ url: String, body: RequestBody? = nil, as type: Value.Type, _ shape: HTTPSession.Shaping = { _ in }
    ) async throws(SessionError) -> Value {
        try await self.value(type, "PATCH", url, body, shape)
    }

    /// Changes a part of a resource with a body of any kind.
    @discardableResult
    public func patch<Serializer: ResponseSerializer>(
        _ url: String, body: RequestBody? = nil,
        as serializer: Serializer = HTTPResponseSerializer(), _ shape: HTTPSession.Shaping = { _ in }
    ) async throws(SessionError) -> HTTPResponse<Serializer.Output> {
        try await self.response(serializer, "PATCH", url, body, shape)
    }

    // MARK: Inside

    private func value<Value: Decodable & Sendable>(
        _ type: Value.Type, _ method: String, _ url: String, _ body: RequestBody?, _ shape: HTTPSession.Shaping
    ) async throws(SessionError) -> Value {
        let serializer = DecodableResponseSerializer(type, decoder: self.makeDecoder)
        return try await self.response(serializer, method, url, body, shape).value
    }

    private func response<Serializer: ResponseSerializer>(
        _ serializer: Serializer, _ method: String, _ url: String, _ body: RequestBody?,
        _ shape: HTTPSession.Shaping
    ) async throws(SessionError) -> HTTPResponse<Serializer.Output> {
        try await self.send(method, url, body: body, as: serializer, shape)
    }
}
