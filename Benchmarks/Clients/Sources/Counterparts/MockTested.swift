// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import Synchronization

/// A service of a program, over any sender of requests.
struct Weather: Sendable {
    struct Report: Codable, Sendable {
        let city: String
        let degrees: Int
    }
    private struct Refusal: Error { let status: HTTPResponseStatus }

    let send: @Sendable (HTTPClientRequest) async throws -> HTTPClientResponse

    func warmest(of cities: [String]) async throws -> String? {
        var reports: [Report] = []
        for city in cities {
            let answer = try await self.retrying(HTTPClientRequest(url: "reports/\(city)"))
            guard answer.status == .ok else { throw Refusal(status: answer.status) }
            reports.append(try await JSONDecoder().decode(Report.self, from: answer.body.collect(upTo: 1 << 20)))
        }
        return reports.max { $0.degrees < $1.degrees }?.city
    }

    private func retrying(_ request: HTTPClientRequest, attempt: Int = 0) async throws -> HTTPClientResponse {
        var pause = Double.random(in: 0...0.5) * pow(2, Double(attempt))
        do {
            let answer = try await self.send(request)
            guard [408, 429, 500, 502, 503, 504].contains(answer.status.code), attempt < 2 else { return answer }
            pause = answer.headers.first(name: "Retry-After").flatMap(Double.init) ?? pause
        } catch _ where attempt < 2 {}
        try await Task.sleep(for: .seconds(pause))
        return try await self.retrying(request, attempt: attempt + 1)
    }
}

/// Tests the service without a network. Answers are taken from the end of the list.
func testWeather() async throws {
    func report(_ json: String) -> HTTPClientResponse { HTTPClientResponse(body: .bytes(ByteBuffer(string: json))) }
    let answers = Mutex([
        "reports/oslo": [report(#"{"city":"Oslo","degrees":9}"#)],
        "reports/rome": [report(#"{"city":"Rome","degrees":27}"#), HTTPClientResponse(status: .serviceUnavailable)],
    ])
    let count = Mutex(0)
    let weather = Weather { request in
        count.withLock { $0 += 1 }
        return answers.withLock { $0[request.url, default: []].popLast() } ?? HTTPClientResponse(status: .notFound)
    }
    let warmest = try await weather.warmest(of: ["oslo", "rome"])
    print("\(warmest ?? "nowhere"), after \(count.withLock { $0 }) requests")
}
