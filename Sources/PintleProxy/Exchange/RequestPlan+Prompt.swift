// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy
internal import PintleSerialization

extension RequestPlan {
    /// Makes the request on the event loop, if that is quick.
    ///
    /// - Returns: nil if it takes too long for an event loop.
    func makePromptly(_ head: RequestHead, _ body: Body, of client: RequestClient) -> Result<PlannedRequest, Problem>? {
        guard body.isPrompt(head) else { return nil }
        let budget = WorkBudget(steps: WorkBudget.promptSteps)
        let result = self.make(head, body, of: client, within: budget)
        return budget.interruption == nil ? result : nil
    }

    /// Makes the request when no other thread is available: as far as that is quick; the rest is not validated, or fails.
    func make(
        _ head: RequestHead, _ body: Body, of client: RequestClient, lacking reason: String
    ) -> Result<PlannedRequest, Problem> {
        self.make(head, body, of: client, shortage: reason, within: WorkBudget(steps: WorkBudget.promptSteps))
    }
}
