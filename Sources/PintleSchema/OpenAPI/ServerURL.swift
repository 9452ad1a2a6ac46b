// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleSerialization

/// A URL of one of OpenAPI's servers, with values in place of its variables.
struct ServerURL: Sendable {
    /// The most URLs that the variables of one server may make.
    private static let limit = 256

    private let text: String
    /// The place in the document.
    private let location: String

    /// The URLs of a server, with every combination of values for its variables.
    static func expansions(of server: OpenAPIElement) throws(SchemaError) -> [ServerURL] {
        guard let url = try server.text("url") else { throw server.refusal("must have a url; add it") }
        var urls = [url]
        for variable in try server.child("variables")?.children() ?? [] {
            var values: [String] = []
            for value in try variable.child("enum")?.elements() ?? [] {
                guard case .string(let text) = value.value else {
                    throw value.refusal("must be a string, is \(Wording.value(value.value)); put it in quotes")
                }
                values.append(text)
            }
            if let fallback = try variable.text("default"), !values.contains(fallback) { values.append(fallback) }
            guard urls.count * values.count <= Self.limit else {
                throw variable.refusal("makes more than \(Self.limit) URLs of one; list the servers one by one")
            }
            urls = urls.flatMap { url in values.map { Self.replacing("{\(variable.key)}", by: $0, in: url) } }
        }
        return urls.map { ServerURL(text: $0, location: server.location + "/url") }
    }

    /// Scheme, host and port; nil if the URL is relative to the document's own, which is unknown.
    ///
    /// - Throws: an error if there is a host, and the URL is neither http nor https.
    func origin() throws(SchemaError) -> Origin? {
        guard SchemaURI(self.text).authority != nil else { return nil }
        do throws(HTTPURLError) {
            return try HTTPURL(self.text).origin
        } catch {
            throw SchemaError(
                self.location,
                "\(Wording.quoted(self.text)) is no server's URL: \(error); write one such as https://api.example.com/v1, "
                    + "with a default for each variable")
        }
    }

    /// The segments of the path, with escapes decoded, without the empty one after a final slash. A relative URL counts as one
    /// from the root of its host.
    var segments: [[UInt8]] {
        var path = SchemaURI(self.text).path[...]
        while path.hasSuffix("/") { path = path.dropLast() }
        if path.isEmpty { return [] }
        return PathTemplate.segments(of: path.hasPrefix("/") ? path : "/" + path)
    }

    private static func replacing(_ name: String, by value: String, in url: String) -> String {
        let bytes = Array(url.utf8)
        var result: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.first {
            if rest.starts(with: name.utf8) {
                result += value.utf8
                rest = rest.dropFirst(name.utf8.count)
            } else {
                result.append(byte)
                rest = rest.dropFirst()
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
