// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

/// Reads the content of a message: `body`, `json`, and `form` of requests or `file` of responses.
package enum ContentReader {
    /// The longest content of a file in bytes.
    private static let fileLimit = 64 << 20

    package struct Content {
        package let bytes: [UInt8]
        /// The media type that the form of the content implies; nil for text and files.
        package let mediaType: String?
    }

    /// - Returns: nil after a fault was reported; `.some(nil)` without content.
    package static func read(_ map: StrictMap, isRequest: Bool) -> Content?? {
        let given = (["body", "json"] + (isRequest ? ["form"] : ["file"])).filter { map[$0] != nil }
        guard given.count <= 1 else {
            map.node.report("has \(given.joined(separator: " and ")); a message has one content")
            return nil
        }
        guard let key = given.first, let node = map[key] else { return .some(nil) }
        let content: Content? =
            switch key {
            case "body": node.string().map { Content(bytes: Array($0.utf8), mediaType: nil) }
            case "json": self.json(node).map { Content(bytes: $0, mediaType: "application/json") }
            case "form": self.form(node).map { Content(bytes: $0, mediaType: "application/x-www-form-urlencoded") }
            default: self.file(node).map { Content(bytes: $0, mediaType: nil) }
            }
        return content.map { .some($0) }
    }

    private static func json(_ node: StrictNode) -> [UInt8]? {
        guard let document = node.document() else { return nil }
        do throws(SerializationError) {
            return try JSONWriter.write(document, options: .fragmentsAllowed)
        } catch {
            node.report("has no form in JSON: \(error.description)")
            return nil
        }
    }

    private static func form(_ node: StrictNode) -> [UInt8]? {
        guard node.isMap, let document = node.document() else {
            if !node.isMap { node.report("must be a map of names and values") }
            return nil
        }
        do throws(SerializationError) {
            return Array(try QueryString.encode(document).utf8)
        } catch {
            node.report("has no form as a form: \(error.description)")
            return nil
        }
    }

    private static func file(_ node: StrictNode) -> [UInt8]? {
        guard let name = node.nonEmptyString() else { return nil }
        let path = node.resolve(name)
        do throws(LoaderEnvironment.ReadingError) {
            return try node.context.surroundings.read(path, self.fileLimit)
        } catch {
            node.report(error.words(for: path, limit: self.fileLimit))
            return nil
        }
    }
}
