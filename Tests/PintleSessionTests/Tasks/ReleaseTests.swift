// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleExtras
import PintleMessage
import PintleSerialization
import PintleSession
import PintleTesting
import Testing

/// Objects of a program that ask for the state of what has held them as they are released.
@Suite(.timeLimit(.minutes(15))) struct ReleaseTests {
    /// Calls a closure as it is released.
    private final class Asker: Sendable {
        private let ask: @Sendable () -> Void

        init(_ ask: @escaping @Sendable () -> Void) { self.ask = ask }

        deinit { self.ask() }
    }

    private enum AskerKey: SessionTaskKey { typealias Value = Asker }

    @Test func `a value that is removed from a task may ask the task`() async throws {
        let stage = try SessionStage()
        let task = try stage.session.dataTask(request(1))
        let seen = Watched<[TaskState]>([])
        task[AskerKey.self] = Asker { [task] in seen.change { $0.append(task.state) } }
        task[AskerKey.self] = nil
        #expect(seen.current == [.suspended] && task[AskerKey.self] == nil)
    }

    @Test func `a value that is replaced in a slot may ask the slot`() async throws {
        let stage = try SessionStage()
        let slot = DownloadSlot(Downloader(try HTTPSession(stage.session), as: AskerSerializer()))
        let seen = Watched<[Bool]>([])
        slot.value = Asker { [weak slot] in seen.change { $0.append(slot?.isLoading ?? true) } }
        slot.value = nil
        #expect(seen.current == [false] && slot.value == nil)
    }

    private struct AskerSerializer: ResponseSerializer {
        let contract = ResponseContract()

        func decode(
            _ head: ResponseHead, body: [UInt8], requestMethod: String
        ) throws(ValidationError) -> Asker { Asker {} }
    }
}
