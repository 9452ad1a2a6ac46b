// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage

/// The steps that the tasks of a client pass.
package struct InterceptorChain: Sendable {
    let steps: [Interceptor]
    let baseURL: HTTPURL?

    /// Nil if there are no steps.
    init?(_ steps: [Interceptor], baseURL: HTTPURL?) {
        guard !steps.isEmpty else { return nil }
        self.steps = steps
        self.baseURL = baseURL
    }
}

/// Calls of interceptors about a task's attempts.
extension TaskRun {
    /// Returns the request with which the next attempt begins.
    func adapted(
        _ attempts: TaskAttempts, of task: SessionTask, _ session: Session
    ) async throws(SessionError) -> SessionRequest {
        var request = attempts.original
        guard let interception else { return request }
        for step in interception.steps {
            guard let adapt = step.adapt else { continue }
            let attempt = Interceptor.Attempt(
                task: task, number: attempts.number + 1, earlier: attempts.outcomes, request: request,
                baseURL: interception.baseURL)
            request = try await self.ask { [request] in
                var request = request
                try await adapt(&request, attempt)
                return request
            }
        }
        try request.checkSyntax()
        try session.checkSecrecy(of: request.url)
        return request
    }

    /// Asks the steps if another attempt follows the outcome, and waits until it is due.
    func isMadeAgain(
        after outcome: Interceptor.Outcome, _ attempts: inout TaskAttempts, of task: SessionTask, _ session: Session
    ) async throws(SessionError) -> Bool {
        guard let interception else { return false }
        // If the task must end, its outcome is not shown to the steps.
        try self.checkFailure()
        let attempt = Interceptor.Attempt(
            task: task, number: attempts.number, earlier: attempts.outcomes, request: attempts.request,
            baseURL: interception.baseURL)
        for step in interception.steps {
            guard let retry = step.retry,
                case .retry(let delay) = try await self.ask({ try await retry(outcome, attempt) }),
                attempts.canRepeatBody(asking: session.hooks)
            else { continue }
            attempts.end(with: outcome)
            try await self.rest(for: TimeAmount(limit: delay))
            return true
        }
        return false
    }

    private func rest(for delay: TimeAmount) async throws(SessionError) {
        // The next attempt begins at once.
        guard delay > .zero else { return }
        let end = NIODeadline.now() + delay
        // Why unowned holds: the run lives as long as its task waits here.
        let timer = LoopTimer { [unowned self] in self.assumeIsolated { $0.wake() } }
        self.loop.arm(timer, at: end)
        defer { self.loop.disarm(timer) }
        try await self.wait { NIODeadline.now() >= end }
    }
}

extension SessionError {
    /// True for an error in the transfer of a body: another attempt may bring all of it.
    var comesFromPeer: Bool {
        switch self.code {
        case .timeout, .malformedResponse, .truncated, .connectionBroken: true
        default: false
        }
    }
}
