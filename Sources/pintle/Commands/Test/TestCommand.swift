// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Logging
internal import PintleActivity
internal import PintleLoop
internal import PintlePolicy
internal import PintleRehearsal
internal import PintleSystem

struct TestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Run policy tests: requests, responses and chains, and what a configuration must make of them.",
        discussion: """
            Nothing is connected to: the plan that decides live traffic decides here, too. A folder stands for all *.pintle-test.yaml \
            below it; without FILE the configuration's key tests names the folder. The format: docs/testing-policies.md.

            Exit code 0 when every test passes, 1 when one fails, 3 when the configuration or a test file is invalid.
            """)

    @Argument(help: "Files, folders and patterns.", completion: .file())
    var files: [String] = []

    @OptionGroup var configuration: ConfigurationOptions

    @Flag(help: "List the rules, routes, pins and contracts that no test reaches, and their shares.")
    var coverage = false

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Write a report to a file; json, junit, sarif or markdown. Repeatable.", valueName: "format=file"))
    var report: [String] = []

    @Flag(help: "Run again whenever the configuration or a test changes.")
    var watch = false

    @Option(
        help: ArgumentHelp(
            "Write tests from the exchanges of a log or a HAR file to standard output.", valueName: "log|har"),
        completion: .file())
    var from: String?

    func validate() throws {
        guard self.from != nil else { return }
        guard self.files.isEmpty, self.report.isEmpty, !self.coverage, !self.watch else {
            throw ValidationError(
                "--from writes tests and runs none; leave out FILE, --report, --coverage and --watch.")
        }
    }

    func run() async throws {
        if let from { return try await self.write(from) }
        let reports = try self.reports()
        guard self.watch else {
            let files = ReadFiles()
            guard try await self.test(files, reports) else { throw CommandFailure(.found, lines: []) }
            return
        }
        try await self.follow(reports)
    }

    private func reports() throws(CommandFailure) -> [ReportOption<TestReportFormat>] {
        var files: [ReportOption<TestReportFormat>] = []
        for text in self.report {
            do throws(Malformed) {
                files.append(try ReportOption(text))
            } catch {
                throw CommandFailure(.usage, "pintle test: --report \(text): \(error.reason)")
            }
        }
        for file in files {
            guard let obstacle = OutputPlace.obstacle(to: file.path) else { continue }
            throw CommandFailure(.incomplete, "pintle test: --report \(file.path): \(obstacle)")
        }
        return files
    }

    /// Runs all tests once.
    ///
    /// - Parameter files: records everything on which the result depends.
    /// - Returns: true if every test has passed.
    private func test(
        _ files: ReadFiles, _ reports: [ReportOption<TestReportFormat>]
    ) async throws(CommandFailure) -> Bool {
        let start = (moment: Timestamp.now(), clock: ContinuousClock.now)
        let (policy, origin) = try await ConfigurationOptions.load(self.configuration.file, telling: files)
        Output.error("configuration: \(origin)")
        let surroundings = LoaderEnvironment.system(environment: Inherited.environment)
            .telling({ files.note($0) }, listings: { files.noteListing($0) })
        let names = self.files.isEmpty ? [policy.configuration.tests?.value].compactMap { $0 } : self.files
        guard !names.isEmpty else {
            throw CommandFailure(
                .usage, "pintle test: name the tests: files or folders; or write tests: FOLDER into the configuration")
        }
        let run = try TestRun(try TestFiles(names, surroundings, for: "pintle test"), by: policy, surroundings)
        let report = TestReport(
            version: Version.number, file: origin.path, startedAt: start.moment,
            duration: ContinuousClock.now - start.clock, run: run, showsCoverage: self.coverage)
        try Output.prose(TestTextReport(report: report).text)
        for file in reports {
            do throws(SystemError) {
                try FileWriting.replace(file.path, with: Array(file.format.write(report).utf8))
            } catch {
                throw CommandFailure(.incomplete, "pintle test: --report \(file.path) cannot be written: \(error)")
            }
        }
        return report.failures == 0
    }

    // MARK: Writing tests

    private func write(_ record: String) async throws(CommandFailure) {
        let (policy, origin) = try await self.configuration.load()
        Output.error("configuration: \(origin)")
        var writer = PolicyTestWriter(policy)
        let summary: TrafficReader.Summary
        do throws(TrafficError) {
            summary = try TrafficReader.read(record) { writer.add($0) }
        } catch {
            throw CommandFailure(.incomplete, "pintle test: --from \(error)")
        }
        try Output.data(writer.text(of: record, summary))
    }

    // MARK: Watching

    /// Runs the tests now and after each change, until the process is ended.
    private func follow(_ reports: [ReportOption<TestReportFormat>]) async throws {
        let (changes, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let loop: Loop
        do {
            loop = try Loop(name: "pintle-watch")
        } catch {
            throw CommandFailure(.incomplete, "pintle test: --watch: \(error)")
        }
        let watch = try ConfigurationWatch(loop: loop, logger: Logger(label: "pintle.test")) { continuation.yield() }
        continuation.yield()
        for await _ in changes {
            let files = ReadFiles()
            var isWhole = true
            do throws(CommandFailure) {
                _ = try await self.test(files, reports)
            } catch {
                guard error.code != .usage else { throw error }
                isWhole = false
                for line in error.lines { Output.error(line) }
            }
            watch.follow(files, isInForce: isWhole)
        }
    }
}
