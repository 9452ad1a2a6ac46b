// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CPintleSchemas

struct Config: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Print what tools need to know of configurations.",
        subcommands: [ConfigSchema.self])
}

struct ConfigSchema: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Print the JSON Schema of configurations, or of policy tests, for editors.",
        discussion: "It is of draft 2020-12, and the one of this version of Pintle.")

    @Flag(help: "Print the schema of files with policy tests, *.pintle-test.yaml.")
    var tests = false

    func run() throws {
        let schema = self.tests ? pintle_schema_of_policy_tests() : pintle_schema_of_configurations()
        try Output.bytes(Array(UnsafeBufferPointer(start: schema.bytes, count: schema.length)))
    }
}
