// SPDX-License-Identifier: Apache-2.0

import PintleExtras
import PintleMessage
import PintleSerialization
import PintleSession
import PintleTesting

/// A value that can be distinguished from another one with the same content.
final class Picture: Sendable {
    let text: String

    init(_ text: String) { self.text = text }
}

/// A downloader of pictures, and the results that its completions got.
final class PictureStage: Sendable {
    typealias Answer = Downloader<Picture>.Answer

    struct Told: Sendable {
        let name: String
        let result: Result<Answer, SessionError>

        var answer: Answer? { try? self.result.get() }
        /// `name: text`, or `name: code` of an error.
        var words: String {
            switch self.result {
            case .success(let answer): "\(self.name): \(answer.value.text)"
            case .failure(let error): "\(self.name): \(error.code.rawValue)"
            }
        }
    }

    let downloader: Downloader<Picture>
    let told = Watched<[Told]>([])
    private let stage: SessionStage

    init(
        cache: (any DownloadCache<Picture>)? = nil, limit: Int = 4, order: TransferQueue.Order = .firstInFirstOut,
        configuration: SessionConfiguration = SessionConfiguration()
    ) throws {
        self.stage = try SessionStage(configuration: configuration)
        self.downloader = Downloader(
            try HTTPSession(self.stage.session),
            as: HTTPResponseSerializer().map { Picture(String(decoding: $0, as: UTF8.self)) }, cache: cache,
            limit: limit, order: order)
    }

    /// Requests a picture, and records the outcome under a name.
    @discardableResult
    func ask(_ name: String, _ request: SessionRequest) -> DownloadReceipt? {
        self.downloader.download(request) { [told] result in
            told.change { $0.append(Told(name: name, result: result)) }
        }
    }

    /// Waits until this many completions were called.
    @discardableResult
    func reach(_ count: Int) async throws -> [Told] {
        try await self.told.reach("\(count) completions") { $0.count >= count }
    }

    var words: [String] { self.told.current.map(\.words) }
}

/// Keeps pictures by their URL, and counts its calls.
final class PictureCache: DownloadCache {
    struct State: Sendable {
        var pictures: [HTTPURL: Picture] = [:]
        var lookups = 0
        var offers = 0
        var additions = 0
    }

    let state = Watched(State())
    private let takes: Bool

    init(taking takes: Bool = true) { self.takes = takes }

    func value(for request: SessionRequest) -> Picture? {
        self.state.change { state in
            state.lookups += 1
            return state.pictures[request.url]
        }
    }

    func shouldCache(_ value: Picture, for request: SessionRequest) -> Bool {
        self.state.change { $0.offers += 1 }
        return self.takes
    }

    func add(_ value: Picture, for request: SessionRequest) {
        self.state.change { state in
            state.additions += 1
            state.pictures[request.url] = value
        }
    }
}
