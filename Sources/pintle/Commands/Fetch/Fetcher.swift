// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleActivity
internal import PintleSession
internal import UnixSignals

/// Runs a plan: starts the engine and the transfers, shows their progress, and reports the results.
struct Fetcher {
    let plan: FetchPlan
    let terminal: Terminal

    /// The signals that are caught.
    static let signals: [UnixSignal] = [.sigint, .sigterm]

    func run() async throws(CommandFailure) {
        let source = try self.plan.body.source()
        let engine: Engine
        let session: Session
        do {
            engine = try Engine(threads: 1)
            var configuration = SessionConfiguration()
            // The body is shown as it was received; a coding is only used if the user's fields request one.
            configuration.decompression = .off
            session = try Session(engine: engine, configuration: configuration, policy: self.plan.policy)
        } catch {
            throw CommandFailure(.incomplete, "pintle fetch: \(error)")
        }
        // Signals are caught before the first byte is transferred, so that received bytes can be kept.
        let signals = await UnixSignalsSequence(trapping: Self.signals)
        let showing = self.showProgress(of: session)
        let work = Task { await self.fetchAll(in: session, sending: source) }
        let signalTask = Task {
            for await _ in signals {
                // A second signal means that the user does not want to wait.
                if work.isCancelled { exit(ProcessExit.incomplete.rawValue) }
                work.cancel()
            }
        }
        let outcomes = await work.value
        signalTask.cancel()
        await session.finishTasksAndInvalidate()
        await showing?.value
        engine.stop()
        try self.report(outcomes)
    }

    /// Shows progress bars if standard error is a terminal, unless the body is written to the terminal too.
    private func showProgress(of session: Session) -> Task<Void, Never>? {
        guard self.terminal.showsBars, self.plan.output != .standardOutput || !self.terminal.showsOutput else {
            return nil
        }
        let display = ProgressDisplay(terminal: self.terminal)
        let events = session.eventStream()
        return Task { await display.follow(events) }
    }

    // MARK: Transfers

    /// Runs all transfers.
    ///
    /// - Returns: an outcome for each target, in their order.
    private func fetchAll(in session: Session, sending source: UploadSource?) async -> [FetchOutcome] {
        await withTaskGroup(of: (Int, FetchOutcome).self) { group in
            var outcomes: [Int: FetchOutcome] = [:]
            var waiting = self.plan.targets.enumerated().makeIterator()
            func startNext() {
                guard let (index, target) = waiting.next() else { return }
                group.addTask { (index, await self.fetch(target, in: session, sending: source)) }
            }
            for _ in 0..<self.plan.width { startNext() }
            for await (index, outcome) in group {
                outcomes[index] = outcome
                startNext()
            }
            return self.plan.targets.indices.compactMap { outcomes[$0] }
        }
    }

    private func fetch(
        _ target: FetchPlan.Target, in session: Session, sending source: UploadSource?
    ) async -> FetchOutcome {
        guard !Task.isCancelled else { return FetchOutcome(target, nil, failure: .interrupted) }
        guard let file = target.file else {
            return await ResponseWriter(plan: self.plan).fetch(target, in: session, sending: source)
        }
        let task: SessionTask
        do {
            task = try session.downloadTask(
                target.request, from: source, to: .file(file, resuming: self.plan.resumes),
                accepting: self.plan.contract)
        } catch {
            return FetchOutcome(target, nil, failure: FetchFailure(error))
        }
        task.resume()
        await withTaskCancellationHandler {
            _ = try? await task.value()
        } onCancel: {
            Task { await task.cancelKeepingPart() }
        }
        return FetchOutcome(target, task, failure: task.error.map { FetchFailure($0) })
    }

    // MARK: The end

    private func report(_ outcomes: [FetchOutcome]) throws(CommandFailure) {
        if self.plan.showsMetrics {
            for outcome in outcomes {
                let line = TransferReport(outcome).line
                if self.plan.output == .standardOutput { Output.error(line) } else { try Output.data(line) }
            }
        }
        var code = ProcessExit.success
        var lines: [String] = []
        for outcome in outcomes {
            guard let failure = outcome.failure else { continue }
            if code.rawValue < failure.exit.rawValue { code = failure.exit }
            let name = outcomes.count > 1 ? "\(outcome.target.name): " : ""
            lines.append("pintle fetch: \(name)\(Redaction.on.text(failure.message))")
            if let part = outcome.task?.partialDownload {
                lines.append("  \(part.offset) bytes are kept in \(part.file); --resume goes on with them")
            }
        }
        guard code == .success else { throw CommandFailure(code, lines: lines) }
    }
}
