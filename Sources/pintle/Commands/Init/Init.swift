// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Glibc
internal import PintlePolicy
internal import PintleSystem

struct Init: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write a commented configuration to begin with, and policy tests for it.",
        discussion: """
            At a terminal it asks what the configuration is for, and two questions more; an empty answer takes what stands in \
            brackets. With --for it asks nothing. The tests go beside the file: pintle.pintle-test.yaml beside pintle.yaml. \
            Nothing is replaced without --force.

            Exit code 0 when both files are written; 2 when the command line or an answer is wrong; 4 when a file is there \
            already, or cannot be written.
            """)

    @Option(
        name: .customLong("for"),
        help: "The purpose: what a build may fetch, a gateway for services, hosts to audit, or a proxy for a team.")
    var purpose: StarterPurpose?

    @Flag(help: "Replace the files if they are there.")
    var force = false

    @Argument(help: "The file of the configuration.", completion: .file())
    var file = "pintle.yaml"

    func run() throws {
        let tests = try self.pathOfTests()
        if !self.force { try Self.refuseToReplace([self.file, tests]) }
        let starter = try self.starter()
        let texts = StarterFiles(starter, configuration: Self.name(of: self.file), tests: Self.name(of: tests))
        try Self.check(texts.configuration)
        for (path, text) in [(self.file, texts.configuration), (tests, texts.tests)] {
            do throws(SystemError) {
                // A file that has appeared meanwhile stays, too.
                if self.force {
                    try FileWriting.replace(path, with: Array(text.utf8))
                } else {
                    try FileWriting.create(path, with: Array(text.utf8))
                }
            } catch {
                throw CommandFailure(.incomplete, "pintle init: \(path) cannot be written: \(error)")
            }
            // A path is input for the next command, so its bytes are not changed.
            try Output.bytes("\(path)\n".systemBytes)
        }
        Output.error(
            "read it, then: pintle check -c \(self.file); pintle test -c \(self.file); \(starter.nextStep(self.file))")
    }

    // MARK: Answers

    private func starter() throws(CommandFailure) -> Starter {
        if let purpose { return Starter(purpose) }
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
            let purposes = StarterPurpose.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandFailure(
                .usage, "pintle init: there is no terminal to ask at; say what it is for with --for: \(purposes)")
        }
        return try StarterQuestions.ask()
    }

    /// Checks an answer that is wrong only in its place: a text that a configuration refuses writes no file.
    private static func check(_ text: String) throws(CommandFailure) {
        do throws(ConfigurationError) {
            _ = try PolicyLoader.policy(
                yaml: Array(text.utf8), file: "the configuration",
                surroundings: .system(environment: Inherited.environment))
        } catch {
            throw CommandFailure(
                .usage, lines: ["pintle init: an answer is not right, and nothing was written:", error.description])
        }
    }

    // MARK: Files

    private func pathOfTests() throws(CommandFailure) -> String {
        for ending in [".yaml", ".yml"] where self.file.hasSuffix(ending) && self.file.utf8.count > ending.utf8.count {
            return "\(self.file.dropLast(ending.count)).pintle-test.yaml"
        }
        throw CommandFailure(.usage, "pintle init: \(self.file): the name of a configuration ends with .yaml")
    }

    private static func name(of path: String) -> String { String(path.split(separator: "/").last ?? "") }

    private static func refuseToReplace(_ paths: [String]) throws(CommandFailure) {
        for path in paths {
            var status = stat()
            guard lstat(path, &status) == 0 else { continue }
            throw CommandFailure(
                .incomplete, "pintle init: \(path) is there already; name another file, or replace it with --force")
        }
    }
}
