// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

/// Reads the files that a document's examples name by `externalValue`: those below the folder of the document, and no others.
struct ExternalExamples {
    /// The folder with its last slash; empty for a document without one in its name.
    private let folder: String
    private let read: (String) throws -> [UInt8]
    /// The examples that were not read, with the reason.
    private(set) var unread: [SchemaError] = []

    /// - Parameters:
    ///   - name: the path of the document.
    ///   - read: reads a file.
    init(of name: String, read: @escaping (String) throws -> [UInt8]) {
        self.folder = name.lastIndex(of: "/").map { String(name[...$0]) } ?? ""
        self.read = read
    }

    /// - Parameters:
    ///   - reference: the value of `externalValue`.
    ///   - document: the document that it stands in.
    ///   - isJSON: true for a media type of JSON; any other has a text.
    ///   - location: the place, for messages.
    /// - Returns: nil if it cannot be read, which is noted.
    mutating func value(
        of reference: String, in document: String, isJSON: Bool, at location: String
    ) -> Parameter? {
        func leaveOut(_ reason: String) -> Parameter? {
            self.unread.append(
                SchemaError(location, "\(Wording.quoted(reference)) counts as no example: \(reason)"))
            return nil
        }
        let uri = SchemaURI(reference)
        guard uri.scheme == nil, uri.authority == nil else {
            return leaveOut("nothing is fetched from the network; name a file by its relative path")
        }
        let path = uri.resolved(against: SchemaURI(document)).path
        let rest = path.hasPrefix(self.folder) ? path.dropFirst(self.folder.utf8.count) : ""
        guard !uri.path.hasPrefix("/"), !rest.isEmpty, !rest.hasPrefix("/"), !rest.split(separator: "/").contains("..")
        else { return leaveOut("only files below the folder of the contract are read; put it there") }
        let bytes: [UInt8]
        do {
            bytes = try self.read(path)
        } catch {
            return leaveOut("it cannot be read: \(error)")
        }
        if !isJSON {
            return String(validating: bytes, as: UTF8.self).map { .string($0) }
                ?? leaveOut("the file is no text in UTF-8")
        }
        do throws(JSONSyntaxError) {
            return try JSONScanner(fragmentsAllowed: true).parse(bytes)
        } catch {
            return leaveOut("the file is not valid JSON: \(error)")
        }
    }
}
