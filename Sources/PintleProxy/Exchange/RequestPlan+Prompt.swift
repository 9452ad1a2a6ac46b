// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy

extension RequestPlan {
    /// Makes the request on the loop, where that is quick.
    ///
    /// - Returns: nil where it takes longer than a loop has time for.
    func makePromptly(_ head: RequestHead, _ body: Body) -> Result<PlannedRequest, Problem>? {
        guard body.isPrompt(head) else { return nil }
        let budget = WorkBudget(steps: WorkBudget.promptSteps)
        let result = self.make(head, body, within: budget)
        return budget.interruption == nil ? result : nil
    }

    /// Makes it where no thread takes the work on: as far as that is quick, and else unjudged or not at all.
    func make(_ head: RequestHead, _ body: Body, lacking reason: String) -> Result<PlannedRequest, Problem> {
        self.make(head, body, shortage: reason, within: WorkBudget(steps: WorkBudget.promptSteps))
    }
}
