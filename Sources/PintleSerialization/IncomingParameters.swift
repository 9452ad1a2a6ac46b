// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The parameters that a request already has in its body, for a route that adds its own.
package enum IncomingParameters {
    /// Reads the body of a request: a form (`application/x-www-form-urlencoded`, `multipart/form-data`), JSON
    /// (`application/json`, `text/json`, `…+json`) or a property list in either format (`application/x-plist`).
    ///
    /// Numbers in JSON and property lists keep every digit. The keys of a property list, which are unordered, are sorted.
    ///
    /// - Parameter encoding: the text encoding of forms that name no charset.
    /// - Returns: nil for an empty body, whatever its type.
    /// - Throws: `.unsupportedBody` for other types, a missing or repeated Content-Type and any content coding;
    ///   `.unknownEncoding` for an unknown charset of a form; `.malformedBody` for a body that does not match its type, and
    ///   for JSON that is neither array nor object.
    package static func read(
        _ head: RequestHead, body: [UInt8], encoding: TextEncoding = .utf8
    ) throws(SerializationError) -> Parameter? {
        guard !body.isEmpty else { return nil }
        if let coding = head.fields.contentCoding {
            throw SerializationError(
                .unsupportedBody,
                "the body is encoded with \(coding.cutName); parameters can be merged only into plain bodies.")
        }
        let count = head.fields.count(of: .contentType)
        guard count == 1, let type = head.fields[.contentType] else {
            throw SerializationError(
                .unsupportedBody,
                count == 0
                    ? "the body has no Content-Type; say what it is." : "the body has two Content-Types; send one.")
        }
        let essence = MediaType.essence(of: type)
        switch essence {
        case "application/x-www-form-urlencoded":
            return try Self.form(body, charset: MediaType.charset(of: type), encoding: encoding)
        case "multipart/form-data":
            return try MultipartReader.read(body, contentType: type, encoding: encoding)
        case "application/x-plist": return try Self.propertyList(body)
        case _ where MediaType.isJSON(essence): return try Self.json(body)
        default:
            throw SerializationError(
                .unsupportedBody,
                "the body is \(essence.cutName); parameters can be merged only into forms, JSON and property lists.")
        }
    }

    /// Merges a route's parameters into incoming ones, key by key at the top level.
    ///
    /// If both have a key, the route's whole value replaces the incoming one; repetitions of the incoming key are removed.
    /// The route's other keys follow. Keys are equal if their bytes are equal. Deeper levels are never merged. If one side
    /// is nil, the other is the result.
    ///
    /// - Throws: `.unmergeable` if both sides are present, and one of them is not a dictionary.
    package static func merge(_ incoming: Parameter?, with route: Parameter?) throws(SerializationError) -> Parameter? {
        guard let incoming else { return route }
        guard let route else { return incoming }
        guard case .dictionary(let old) = incoming, case .dictionary(let new) = route else {
            throw SerializationError(
                .unmergeable, "only dictionaries can be merged: the body and the route's parameters must both be one.")
        }
        var replacements: [ExactName: [Parameter.Entry]] = [:]
        for entry in new { replacements[ExactName(entry.key), default: []].append(entry) }
        var result: [Parameter.Entry] = []
        result.reserveCapacity(old.count + new.count)
        var placed: Set<ExactName> = []
        for entry in old {
            let name = ExactName(entry.key)
            guard let replacement = replacements[name] else {
                result.append(entry)
                continue
            }
            if placed.insert(name).inserted { result += replacement }
        }
        for entry in new where !placed.contains(ExactName(entry.key)) { result.append(entry) }
        return .dictionary(result)
    }

    /// Returns `head` without the fields that describe the bytes of its old body, so that a serializer can describe the new
    /// one: Content-Type, Content-Encoding, Content-Language and digests (RFC 9530).
    ///
    /// A serializer keeps an existing Content-Type, so a form that becomes JSON needs this first.
    package static func headForNewBody(_ head: RequestHead) -> RequestHead {
        var head = head
        for name in [
            "Content-Type", "Content-Encoding", "Content-Language", "Content-MD5", "Content-Digest", "Repr-Digest",
            "Digest",
        ] { head.fields.remove(name) }
        return head
    }

    private static func form(
        _ body: [UInt8], charset: String?, encoding: TextEncoding
    ) throws(SerializationError) -> Parameter {
        let encoding = try charset.map { (name) throws(SerializationError) in try TextEncoding(name) } ?? encoding
        guard encoding.keepsASCII else {
            throw SerializationError(.unsupportedBody, "a form in \(encoding) cannot be read; send it in UTF-8.")
        }
        return try FormDecoder.read(body, encoding: encoding)
    }

    private static func json(_ body: [UInt8]) throws(SerializationError) -> Parameter {
        do throws(JSONSyntaxError) {
            return try JSONScanner().parse(body)
        } catch {
            throw SerializationError(.malformedBody, "the body is not valid JSON.", cause: error.description)
        }
    }

    private static func propertyList(_ body: [UInt8]) throws(SerializationError) -> Parameter {
        do throws(PropertyListError) {
            return Parameter(try PropertyListReader.read(body))
        } catch {
            throw SerializationError(.malformedBody, "the body is no property list.", cause: error.description)
        }
    }
}
