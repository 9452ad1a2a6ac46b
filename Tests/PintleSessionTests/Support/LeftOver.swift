// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting

/// The beginning of a download that a killed process leaves: a file and its last note.
struct LeftOver {
    let folder: TemporaryFolder
    let url: String
    var file: String { self.folder.path("out.part") }

    /// - Parameter port: of the origin whose `/big` it is.
    init(in folder: TemporaryFolder, of port: Int) {
        self.folder = folder
        self.url = "http://127.0.0.1:\(port)/big"
    }

    /// Writes both.
    ///
    /// - Parameters:
    ///   - bytes: the contents of the file; there may be more than were noted.
    ///   - offset: the number of bytes that were noted; all unless given.
    func write(_ bytes: [UInt8], noted offset: Int? = nil, validator: String = "\"v1\"", length: Int? = nil) throws {
        try self.folder.write(bytes, to: "out.part")
        try self.note(offset ?? bytes.count, validator: validator, length: length)
    }

    /// Writes the note alone.
    func note(
        _ offset: any Sendable, validator: any Sendable = "\"v1\"", length: (any Sendable)? = nil, url: String? = nil,
        file: String? = nil
    ) throws {
        var note: [String: any Sendable] = [
            "url": url ?? self.url, "file": file ?? self.file, "offset": offset, "validator": validator,
        ]
        note["length"] = length
        try self.folder.write(Array(JSONSerialization.data(withJSONObject: note)), to: "out.part.json")
    }
}
