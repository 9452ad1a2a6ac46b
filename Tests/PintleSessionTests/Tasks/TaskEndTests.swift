// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// The session's lists of tasks while their hooks run.
@Suite(.timeLimit(.minutes(15))) struct TaskEndTests {
    @Test func `SES-10 SES-36 lists can be read in every hook, and a task is off them before its end is told`()
        async throws
    {
        let origin = try origin { $0.target == "/go" ? answer(302, ["Location: /there"]) : answer(200, [], "there") }
        let session = Watched<Session?>(nil)
        let lists = Watched<[String]>([])
        let hooks = RecordedHooks { answers in
            answers.note = { word, task in
                guard let session = session.current, let task else { return }
                let count = (session.tasks + session.dataTasks + session.uploadTasks + session.downloadTasks).count
                lists.change { $0.append("\(word) \(count) \(task.state)") }
            }
        }
        let stage = try SessionStage(hooks: hooks)
        session.change { $0 = stage.session }
        let events = stage.session.eventStream()
        #expect(try await stage.data(for: request(origin.port, "/go")).text == "there")
        for await event in events {
            if case .taskCompleted = event { break }
        }
        // Twice for a task that is listed: among all, and among those of its kind.
        let expected = [
            "redirect 2 running", "response 2 running", "data 2 running", "metrics 0 completed",
            "completed 0 completed",
        ]
        #expect(lists.current == expected)
        session.change { $0 = nil }
    }

    @Test func `UIA-04 UIR-04 a listener that is gone harms nobody, and nothing holds on to it`() async throws {
        /// A view that would show the task.
        final class View: Sendable {
            let shown = Watched(0)
        }
        let mayAnswer = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try mayAnswer.wait(for: "leave to answer") { $0 }
            try connection.send(response("done"))
        }
        let stage = try SessionStage()
        let task = try stage.session.dataTask(request(origin.port))
        weak let gone: View?
        let listener: Task<Void, Never>
        do {
            let view = View()
            gone = view
            let events = stage.session.eventStream()
            listener = Task { for await _ in events { view.shown.change { $0 += 1 } } }
            task.resume()
            try await view.shown.reach("the first event") { $0 == 1 }
        }
        // This stream is never read.
        _ = stage.session.eventStream()
        listener.cancel()
        await listener.value
        #expect(gone == nil)
        task.suspend()
        task.resume()
        mayAnswer.change { $0 = true }
        #expect(try await task.value().text == "done")
    }
}
