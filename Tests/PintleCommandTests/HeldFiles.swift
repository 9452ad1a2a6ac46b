// SPDX-License-Identifier: Apache-2.0

import PintlePolicy

extension LoaderEnvironment {
    /// Files that are in memory, and nothing of the process's own environment.
    static func holding(_ files: [String: String], environment: [String: String] = [:]) -> LoaderEnvironment {
        LoaderEnvironment(
            environment: environment,
            read: { (path, limit) throws(ReadingError) in
                guard let text = files[path] else { throw .notFound }
                guard text.utf8.count <= limit else { throw .tooLarge }
                return Array(text.utf8)
            },
            exists: { files[$0] != nil })
    }
}
