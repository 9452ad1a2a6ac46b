// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleExtras
import PintleImage
import PintleMessage
import PintleSerialization
import PintleSession
import PintleTesting
import Testing

/// One value after another: values that arrive, and failures.
@Suite(.timeLimit(.minutes(15))) struct DownloaderTests {
    /// Three pixels wide and two high.
    private static let png = Data(
        base64Encoded:
            "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAA3NCSVQICAjb4U/gAAAAEUlEQVQImWP838EAAUwMMAAAHLkBiz6n"
            + "kKQAAAAASUVORK5CYII=")

    @Test func `IDL-03 images arrive with their responses, two at once`() async throws {
        let nginx = try NginxOrigin(locations: "types { image/png png; }")
        let png = try Array(#require(Self.png))
        try nginx.serve(png, as: "one.png")
        try nginx.serve(png, as: "other.png")
        let stage = try SessionStage()
        let client = try HTTPSession(stage.session, base: "http://127.0.0.1:\(nginx.httpPort)/files")
        let images = Downloader(client, as: ImageResponseSerializer(decoder: try ImageDecoder()).required())
        async let one = images.answer(for: "one.png")
        async let other = images.answer(for: "other.png")
        for answer in try await [one, other] {
            #expect(answer.value.size == ImageSize(width: 3, height: 2) && answer.value.bytes == png)
            #expect(answer.value.pixels?.bitmap.size == answer.value.size)
            #expect(answer.response?.head.status == 200 && answer.response?.value == answer.value)
        }
        #expect(images.runningCount == 0 && images.waitingCount == 0)
    }

    @Test func `IDL-22 what is no image is an error, and nothing is kept of it`() async throws {
        final class Images: DownloadCache {
            typealias Value = ImageResponseSerializer.Image
            let added = Watched(0)
            func value(for request: SessionRequest) -> Value? { nil }
            func add(_ value: Value, for request: SessionRequest) { self.added.change { $0 += 1 } }
        }
        let origin = try RawOrigin(answering: response("no image", fields: "Content-Type: image/png\r\n"))
        let stage = try SessionStage()
        let cache = Images()
        let images = Downloader(
            try HTTPSession(stage.session), as: ImageResponseSerializer(decoder: try ImageDecoder()).required(),
            cache: cache)
        let error = await sessionError { _ = try await images.value(for: request(origin.port)) }
        #expect(error?.code == .rejected && error?.underlying is RejectedResponse)
        #expect(cache.added.current == 0)
    }

    @Test func `IDL-22 a response without a value is an error where one is required`() async throws {
        let origin = try RawOrigin(answering: "HTTP/1.1 204 No Content\r\n\r\n")
        let stage = try SessionStage()
        let images = Downloader(
            try HTTPSession(stage.session), as: ImageResponseSerializer(decoder: try ImageDecoder()).required())
        let error = await sessionError { _ = try await images.value(for: request(origin.port)) }
        #expect(error?.message == "Request failed: there is nothing in the response (204)")
    }

    @Test func `IDL-02 what is no URL is an error, and has no receipt`() async throws {
        let stage = try PictureStage()
        let told = Watched<[SessionError.Code?]>([])
        let receipt = stage.downloader.download("no URL") { result in
            guard case .failure(let error) = result else { return }
            told.change { $0.append(error.code) }
        }
        #expect(receipt == nil && told.current == [.invalidURL])
        let error = await sessionError { _ = try await stage.downloader.value(for: "ftp://a.test/") }
        #expect(error?.code == .invalidURL)
    }

    @Test func `IDL-02 a session that takes no more tasks is an error, and has no receipt`() async throws {
        let stage = try PictureStage()
        await stage.downloader.client.session.invalidateAndCancel()
        #expect(stage.ask("a", request(1)) == nil && stage.words == ["a: invalidated"])
    }

    @Test func `IDL-01 a downloader that is let go brings what was asked for`() async throws {
        let origin = try HeldOrigin()
        let told = Watched<[String]>([])
        weak let gone: Downloader<[UInt8]>?
        do {
            let stage = try SessionStage()
            let client = try HTTPSession(stage.session, base: "http://127.0.0.1:\(origin.origin.port)")
            // One runs, and two wait for their turn.
            let downloader = Downloader(client, as: HTTPResponseSerializer(), limit: 1)
            gone = downloader
            for path in ["a", "b", "c"] {
                downloader.download(path) { result in
                    told.change { $0.append((try? result.get().response?.text) ?? "failed") }
                }
            }
            try await origin.origin.reachRequests(1)
            #expect(downloader.runningCount == 1 && downloader.waitingCount == 2)
            // The stage would end its session.
            Self.keep(stage)
        }
        origin.releaseAll()
        #expect(try await told.reach("three answers") { $0.count == 3 } == ["/a", "/b", "/c"])
        try await Self.wait { gone == nil }
    }

    private static let kept = Watched<[SessionStage]>([])

    private static func keep(_ stage: SessionStage) { self.kept.change { $0.append(stage) } }

    /// Lets other tasks run until `condition` holds.
    private static func wait(until condition: () -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(Patience.seconds)
        while !condition() {
            guard ContinuousClock.now < end else { throw TestFailure("it did not come to that") }
            await Task.yield()
        }
    }

    @MainActor @Test func `IDL-12 who waits on the main actor goes on there, after a failure too`() async throws {
        let origin = try origin { $0.target == "/there" ? answer(200, [], "there") : answer(404, [], "gone") }
        let stage = try PictureStage()
        #expect(try await stage.downloader.value(for: request(origin.port, "/there")).text == "there")
        MainActor.assertIsolated()
        do {
            _ = try await stage.downloader.value(for: request(origin.port, "/gone"))
            Issue.record("no error")
        } catch {
            MainActor.assertIsolated()
            #expect(error.code == .rejected && (error.underlying as? RejectedResponse)?.head.status == 404)
        }
    }

    @Test func `IDL-13 IDL-21 a receipt has the id that was given, and receipts with equal ids are told apart`()
        async throws
    {
        let origin = try HeldOrigin()
        let stage = try PictureStage()
        let (id, told) = (UUID(), Watched<[String]>([]))
        let asked = request(origin.origin.port, "/a")
        let receipts = ["first", "second"].map { name in
            stage.downloader.download(asked, id: id) { result in
                told.change { $0.append("\(name) \((try? result.get().value.text) ?? "cancelled")") }
            }
        }
        #expect(receipts.map(\.?.id) == [id, id] && receipts[0] != receipts[1])
        #expect(receipts[0]?.task === receipts[1]?.task)
        #expect(Set(receipts.compactMap(\.self)).count == 2)
        try stage.downloader.cancel(#require(receipts[0]))
        #expect(told.current == ["first cancelled"])
        origin.releaseAll()
        try await told.reach("the second") { $0 == ["first cancelled", "second /a"] }
        let other = stage.ask("new id", asked)
        #expect(other?.id != id)
    }

    @Test func `IDL-14 what is behind a redirect arrives, with the URL that it came from`() async throws {
        let origin = try origin { request in
            request.target == "/go" ? answer(302, ["Location: /there"]) : answer(200, [], "there")
        }
        let stage = try PictureStage()
        let brought = try await stage.downloader.answer(for: request(origin.port, "/go"))
        #expect(brought.value.text == "there" && brought.response?.url.path == "/there")
    }

    @Test func `a URL is below the client's base, and gets its default fields and its shape`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let stage = try SessionStage()
        var client = try HTTPSession(stage.session, base: "http://127.0.0.1:\(origin.port)/v1")
        var serializer = HTTPRequestSerializer()
        try serializer.setField("X-App", to: "mine")
        client.requestSerializer = serializer
        client.interceptors = [Interceptor { $0.adapt = { request, _ in request.fields.set("X-Step", "passed") } }]
        let downloader = Downloader(client, as: TextResponseSerializer())
        #expect(try await downloader.value(for: "a") { $0.fields.set("Accept", "text/plain") } == "done")
        let seen = try #require(origin.requests.first)
        #expect(seen.target == "/v1/a" && seen["X-App"] == "mine" && seen["X-Step"] == "passed")
        #expect(seen["Accept"] == "text/plain")
    }
}
