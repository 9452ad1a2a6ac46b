// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import PintleProxy
internal import PintleSystem

/// Says on standard error which requests of a command wait for an answer that its terminal cannot give, and for how long.
enum QuestionNotes {
    /// Follows the questions of a board from now on.
    static func follow(_ board: AskBoard) {
        // The ids of the open questions that were told.
        let told = Locked<Set<String>>([])
        // A reader of standard error may be slow, and no exchange waits for it.
        let queue = DispatchQueue(label: "questions")
        board.observe { [weak board] in
            queue.async { [weak board] in
                let open = board?.questions ?? []
                let fresh = told.withLock { told in
                    let fresh = open.filter { !told.contains($0.id) }
                    told = Set(open.map(\.id))
                    return fresh
                }
                for question in fresh {
                    Output.error("\(QuestionPrompt(question).head); answer it on the page, or by the webhook")
                }
            }
        }
    }
}
