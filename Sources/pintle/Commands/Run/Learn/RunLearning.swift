// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleAudit
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleProxy
internal import PintleSystem

/// The option `--learn FILE`: learns while the command runs, and writes a configuration after its end.
struct RunLearning: Sendable {
    let learner = Learner()
    let observer: ExchangeObserver
    private let path: String
    private let policy: Policy
    private let base: ConfigurationOrigin

    /// The result, for the user.
    struct Result: Sendable {
        /// The line for the summary.
        var line: String
        /// False if a configuration should have been written but could not be.
        var isWhole = true
    }

    /// Checks the path of the learnt configuration before the command runs.
    ///
    /// - Throws: an error if a file exists there already, or cannot be written.
    static func check(_ path: String) throws(CommandFailure) {
        guard !path.isEmpty, path != "-", !path.hasSuffix("/") else {
            throw Self.failure(path, "name a file that is not there yet, as in learnt.yaml")
        }
        for path in [path, Self.schemaFolder(of: path)] {
            var status = stat()
            guard lstat(path, &status) != 0 else {
                throw Self.failure(path, "it is there already; move it away, or name another file")
            }
        }
        if let obstacle = OutputPlace.obstacle(to: path) { throw Self.failure(path, obstacle) }
    }

    /// - Throws: an error if the configuration of the run changes requests or responses. The learnt configuration does not
    ///   contain these changes, so the command would get other responses with it.
    init(_ path: String, _ policy: Policy, _ base: ConfigurationOrigin) throws(CommandFailure) {
        self.path = path
        self.policy = policy
        self.base = base
        self.observer = self.learner.observer
        guard let route = policy.configuration.routes.first(where: \.changesMessages) else { return }
        throw Self.failure(
            path,
            "the route \"\(route.name)\" of \(base) changes requests or responses, and what is learnt stands alone; learn under "
                + "a configuration without such routes (-c FILE)")
    }

    private static func failure(_ path: String, _ reason: String) -> CommandFailure {
        CommandFailure(.runFailed, "pintle run: --learn \(path): \(reason)")
    }

    /// Returns the folder for schemas: `learnt.schemas` beside `learnt.yaml`.
    private static func schemaFolder(of path: String) -> String {
        for ending in [".yaml", ".yml"] where path.hasSuffix(ending) && path.utf8.count > ending.utf8.count {
            return "\(path.dropLast(ending.count)).schemas"
        }
        return "\(path).schemas"
    }

    // MARK: The end

    /// Writes the learnt configuration.
    func finish(_ report: RunReport) async -> Result {
        let learner = self.learner
        var traffic = await ThreadPool.shared.result { learner.finish() }
        await LearnedProofs.add(to: &traffic, under: self.policy)
        let folder = Self.schemaFolder(of: self.path)
        let learnt = LearnedConfiguration(
            traffic,
            from: LearnedConfiguration.Origin(
                version: report.version, program: report.program, moment: "\(report.startedAt)", base: "\(self.base)"),
            under: self.policy.configuration,
            schemaFolder: String(folder.split(separator: "/").last ?? ""),
            place: LearnedPath(from: OutputPlace.folder(of: self.path)))
        guard learnt.hostCount > 0 else {
            return Result(line: "learnt: nothing, as no request came through; \(self.path) was not written")
        }
        if let obstacle = Self.write(learnt, self.path, folder) {
            return Result(line: "pintle run: --learn \(self.path): \(obstacle)", isWhole: false)
        }
        do throws(CommandFailure) {
            _ = try await ConfigurationOptions.load(self.path)
        } catch {
            // No traffic should lead to an invalid configuration; if it does, the user must know.
            let lines = ["pintle run: --learn \(self.path): what was learnt is not valid"] + error.lines
            return Result(line: lines.joined(separator: "\n"), isWhole: false)
        }
        let counts = [
            ReportText.count(learnt.hostCount, "host"), ReportText.count(learnt.routes, "route"),
            ReportText.count(learnt.schemas.count, "schema"),
        ]
        return Result(
            line:
                "learnt: \(counts.joined(separator: ", ")) → \(self.path); read it before you use it: pintle check -c \(self.path)"
        )
    }

    /// Writes all files or none.
    ///
    /// - Returns: the reason of a failure.
    private static func write(_ learnt: LearnedConfiguration, _ path: String, _ folder: String) -> String? {
        var made: [String] = []
        do throws(SystemError) {
            if !learnt.schemas.isEmpty {
                guard mkdir(folder, 0o755) == 0 else { throw .last }
                for schema in learnt.schemas {
                    try FileWriting.create("\(folder)/\(schema.name)", with: Array(schema.text.utf8))
                    made.append("\(folder)/\(schema.name)")
                }
            }
            try FileWriting.create(path, with: Array(learnt.text.utf8))
            return nil
        } catch {
            for file in made { unlink(file) }
            // If another process has created the folder meanwhile, it is either not empty and stays, or its loss does not
            // matter.
            if !learnt.schemas.isEmpty { rmdir(folder) }
            return "it cannot be written: \(error)"
        }
    }
}

extension RouteConfiguration {
    /// True if a request or a response differs from what it would be without the route.
    fileprivate var changesMessages: Bool {
        let request = self.request
        return self.servesGateway || self.cors != nil || request.forwarded.form != .off || self.redirects != .pass
            || !request.headers.isEmpty
            || request.authorization != nil || !request.parameters.isEmpty || request.serialize != .none
            || request.cookies != .pass || self.response.removeNulls
    }
}
