// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

/// Writes parameters into the query, or into a body of type `application/x-www-form-urlencoded`.
///
/// A value type: a copy shares nothing with its original, and several tasks can serialize without a lock.
public struct HTTPRequestSerializer: RequestSerializer {
    /// Makes the query from the original request and its parameters; nil means no query. ``serialize(_:parameters:)``
    /// passes its errors on.
    public typealias QueryBlock =
        @Sendable (_ head: RequestHead, _ parameters: Parameter) throws(SerializationError) -> String?

    /// The fields that are added to a request if it has none of the same name. Names compare without regard to case.
    public private(set) var defaultFields = Fields()

    /// The methods, in upper case, for which parameters go into the query; the request's method is converted to upper case
    /// before the comparison. Default GET, HEAD and DELETE. HEAD counts even if it is not in the set.
    public var uriMethods: Set<String> = ["GET", "HEAD", "DELETE"] {
        didSet { self.uriMethods = Set(self.uriMethods.map { $0.uppercased() }) }
    }

    /// The encoding of bodies. Percent escapes always stand for UTF-8. Default UTF-8.
    public var stringEncoding = TextEncoding.utf8

    /// Replaces ``QueryString/encode(_:)``. Called only if there are parameters. Default nil.
    public var queryBlock: QueryBlock?

    /// Makes a serializer that adds Accept-Language, if there are languages, and User-Agent, if it is not nil.
    ///
    /// - Throws: `.invalidField` for a user agent that is not a valid field value.
    public init(preferredLanguages: [String], userAgent: String?) throws(SerializationError) {
        try self.setField("Accept-Language", to: DefaultFields.acceptLanguage(preferring: preferredLanguages))
        try self.setField("User-Agent", to: userAgent)
    }

    /// Makes a serializer that adds these fields to requests that have none of their names.
    ///
    /// - Throws: `.invalidField` for an invalid field name or value (RFC 9110 §5.1, §5.5).
    public init(defaultFields: Fields) throws(SerializationError) {
        for (name, value) in defaultFields.pairs { try self.setField(name, to: value) }
    }

    /// Makes a serializer without default fields.
    public init() {}

    /// The value of the default field called `name`, or nil.
    public func field(_ name: String) -> String? { self.defaultFields[name] }

    /// Sets or, with nil, removes the default field called `name`.
    ///
    /// - Throws: `.invalidField` for an invalid field name or value (RFC 9110 §5.1, §5.5).
    public mutating func setField(_ name: String, to value: String?) throws(SerializationError) {
        guard let value else {
            self.defaultFields.remove(name)
            return
        }
        guard FieldSyntax.isName(name) else {
            throw SerializationError(.invalidField, "\(name.debugDescription) is not a field name.")
        }
        // The value may be a secret, so the message names only the field.
        guard FieldSyntax.isValue(value) else {
            throw SerializationError(
                .invalidField, "the value of \(name) has control characters, or white space at its ends.")
        }
        self.defaultFields.set(name, value)
    }

    /// Makes HTTP Basic authorization a default field, and replaces an earlier Authorization.
    ///
    /// - Throws: the errors of ``DefaultFields/basicAuthorization(user:password:)``.
    public mutating func setAuthorization(user: String, password: String) throws(SerializationError) {
        try self.setField("Authorization", to: try DefaultFields.basicAuthorization(user: user, password: password))
    }

    /// Removes Authorization, and nothing else, from the default fields.
    public mutating func clearAuthorization() { self.defaultFields.remove(.authorization) }

    /// Adds the missing default fields to `head`, and places the parameters.
    ///
    /// With one of ``uriMethods``, the query is appended to the target, and there is no body. Otherwise the query is the
    /// body, empty if there are no parameters, and Content-Type is set unless there is one.
    public func serialize(
        _ head: RequestHead, parameters: Parameter?
    ) throws(SerializationError) -> SerializedRequest {
        let query = try self.query(for: head, parameters: parameters)
        var result = SerializedRequest(head: self.addingDefaultFields(to: head), body: nil)
        if self.placesInTarget(head) {
            if !query.isEmpty { result.head.target = try head.target.appending(query: query) }
            return result
        }
        try head.checkTakesBody()
        result.body = try self.stringEncoding.encode(query)
        result.head.setContentTypeIfAbsent("application/x-www-form-urlencoded")
        return result
    }

    /// True if parameters of this request go into its query. Those of HEAD always do: it has no content (RFC 9110 §9.3.2).
    func placesInTarget(_ head: RequestHead) -> Bool {
        let method = head.method.uppercased()
        return method == "HEAD" || self.uriMethods.contains(method)
    }

    func addingDefaultFields(to head: RequestHead) -> RequestHead {
        var result = head
        for (name, value) in self.defaultFields.pairs where !head.fields.contains(name) {
            result.fields.append(name, value)
        }
        return result
    }

    private func query(for head: RequestHead, parameters: Parameter?) throws(SerializationError) -> String {
        guard let parameters else { return "" }
        guard let queryBlock = self.queryBlock else { return try QueryString.encode(parameters) }
        return try queryBlock(head, parameters) ?? ""
    }
}

extension RequestHead {
    /// - Throws: `.unsupportedTarget` for CONNECT, because such a request has no content (RFC 9110 §9.3.6).
    func checkTakesBody() throws(SerializationError) {
        guard case .authority = self.target else { return }
        throw SerializationError(.unsupportedTarget, "a CONNECT request cannot carry parameters.")
    }

    mutating func setContentTypeIfAbsent(_ type: String) {
        if !self.fields.contains(.contentType) { self.fields.append("Content-Type", type) }
    }
}
