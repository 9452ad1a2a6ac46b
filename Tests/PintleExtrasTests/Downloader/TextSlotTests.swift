// SPDX-License-Identifier: Apache-2.0

import PintleExtras
import PintleMessage
import PintleSerialization
import PintleSession
import PintleTesting
import Testing

/// A slot of text with the URL that it came from: the web view's part that is not drawing.
@Suite(.timeLimit(.minutes(15))) struct TextSlotTests {
    private let stage: SessionStage

    init() throws { self.stage = try SessionStage() }

    private func slot() throws -> DownloadSlot<String> {
        DownloadSlot(Downloader(try HTTPSession(self.stage.session), as: TextResponseSerializer()))
    }

    @Test func `UIW-03 a load sends the fields of its request`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let slot = try self.slot()
        slot.load(request(origin.port, fields: ["X-Custom": "mine"]))
        for await text in slot.valueStream where text == "done" { break }
        #expect(origin.requests.first?["X-Custom"] == "mine")
    }

    @Test func `UIW-02 the progress of a load reaches 1`() async throws {
        let nginx = try NginxOrigin()
        try nginx.serve([UInt8](repeating: 0x61, count: 1 << 20), as: "large")
        let slot = try self.slot()
        slot.load(request(nginx.httpPort, "/files/large"))
        let task = slot.receipt?.task
        // It works without an observer, too.
        for await text in slot.valueStream where text?.utf8.count == 1 << 20 { break }
        #expect(task == nil || task?.progress.fractionReceived == 1)
    }

    @Test func `UIW-04 UIW-05 a success may show another text in place of the one that came`() async throws {
        let origin = try RawOrigin(
            answering:
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-16be\r\nContent-Length: 4\r\n\r\n\0h\0i")
        let slot = try self.slot()
        slot.load(request(origin.port), success: { [weak slot] answer in slot?.value = "\(answer.value), there" })
        for await text in slot.valueStream where text != nil { break }
        #expect(slot.value == "hi, there")
    }

    @Test func `UIW-06 the base of a document is where it came from, after redirects`() async throws {
        let origin = try origin { request in
            request.target == "/go" ? answer(302, ["Location: /there/page"]) : answer(200, [], "page")
        }
        let slot = try self.slot()
        let base = Watched<HTTPURL?>(nil)
        slot.load(request(origin.port, "/go"), success: { answer in base.change { $0 = answer.response?.url } })
        let url = try await base.reach("the URL") { $0 != nil }
        #expect(try url?.resolving("image.png").path == "/there/image.png")
    }

    @Test func `UIW-07 a load is under way from its start to its end, and only one that fails is a failure`()
        async throws
    {
        let origin = try origin { $0.target == "/gone" ? answer(404, [], "gone") : answer(200, [], "page") }
        let slot = try self.slot()
        let told = Watched<[String]>([])
        for path in ["/page", "/gone"] {
            slot.load(
                request(origin.port, path), success: { answer in told.change { $0.append(answer.value) } },
                failure: { error in told.change { $0.append(error.code.rawValue) } })
            #expect(slot.isLoading || !told.current.isEmpty)
            try await told.reach("the end") { $0.count == (path == "/page" ? 1 : 2) }
            #expect(!slot.isLoading)
        }
        #expect(told.current == ["page", "rejected"])
    }
}
