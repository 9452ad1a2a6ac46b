// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import PintlePolicy

@testable import pintle

/// The plan of a command line; nothing of it comes from the process's own environment.
func fetchPlan(_ arguments: String...) throws -> FetchPlan { try fetchPlan(arguments) }

func fetchPlan(
    _ arguments: [String], environment: [String: String] = [:], files: [String: String] = [:]
) throws -> FetchPlan {
    let surroundings = LoaderEnvironment(
        environment: environment,
        read: { (path, limit) throws(LoaderEnvironment.ReadingError) in
            guard let text = files[path] else { throw .notFound }
            guard text.utf8.count <= limit else { throw .tooLarge }
            return Array(text.utf8)
        },
        exists: { files[$0] != nil })
    return try FetchPlan(try Fetch.parse(arguments), surroundings: surroundings)
}
