// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The files from which the tests were built, for tests that compare code with documents.
enum Repository {
    static func path(_ relative: String) -> String {
        "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/") + "/" + relative
    }

    static func text(_ relative: String) throws -> String {
        try String(contentsOfFile: self.path(relative), encoding: .utf8)
    }

    /// The texts of ``named(_:)``.
    static func sources(_ endings: [String] = [".swift"]) throws -> [String] { try self.named(endings).map(\.text) }

    /// The files of the program and its rooms, without the pages of the reference: names without folders, and texts.
    ///
    /// - Parameter endings: of the names of files.
    static func named(_ endings: [String] = [".swift"]) throws -> [(name: String, text: String)] {
        let names = try #require(FileManager.default.enumerator(atPath: self.path("Sources"))).compactMap {
            $0 as? String
        }
        return try names.filter { name in
            endings.contains { name.hasSuffix($0) } && !name.contains("Commands/Help/Pages/")
        }.map { path in (name: String(path.split(separator: "/").last ?? ""), text: try self.text("Sources/\(path)")) }
    }
}
