// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import PintleSession

/// The name and the version of the program.
enum Version {
    static let number = "0.1.0"
    static let line = "pintle \(Self.number)"
}

struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version", abstract: "Print the version, and those of libcurl and OpenSSL.")

    func run() throws { try Output.data("\(Version.line) (\(Engine.libraryVersions))") }
}
