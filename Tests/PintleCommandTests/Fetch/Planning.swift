// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import PintlePolicy

@testable import pintle

/// The plan of a command line; nothing of it comes from the process's own environment.
func fetchPlan(_ arguments: String...) throws -> FetchPlan { try fetchPlan(arguments) }

func fetchPlan(
    _ arguments: [String], environment: [String: String] = [:], files: [String: String] = [:]
) throws -> FetchPlan {
    try FetchPlan(try Fetch.parse(arguments), surroundings: .holding(files, environment: environment))
}
