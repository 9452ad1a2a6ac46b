// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting

/// The built examples.
enum ExampleProcess {
    private static let binary = "\(PintleProcess.products)/PintleExamples"

    static func start(_ arguments: [String], environment: [String: String] = [:]) throws -> ChildProcess {
        try ChildProcess(Self.binary, arguments, environment: environment)
    }

    /// Runs one to its end.
    static func run(_ arguments: [String], environment: [String: String] = [:]) throws -> ChildProcess {
        let process = try Self.start(arguments, environment: environment)
        try process.waitForExit()
        return process
    }
}
