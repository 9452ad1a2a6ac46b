// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Foundation
import Logging
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

private struct Job: Decodable, Sendable {
    let id: Int, input: String
}
private struct Refusal: Error { let status: HTTPResponseStatus }

/// Takes a job, does it and reports; a busy service is asked again for up to a minute, after the delays that it demands.
func doJob(at base: String) async throws {
    var asking = HTTPClientRequest(url: "\(base)/jobs/next")
    asking.method = .POST
    let answer = try await send(asking)
    guard answer.status != .noContent else {
        return print("nothing to do")
    }
    guard answer.status == .ok else { throw Refusal(status: answer.status) }
    let job = try await JSONDecoder().decode(Job.self, from: answer.body.collect(upTo: 1 << 20))
    var report = HTTPClientRequest(url: "\(base)/jobs/\(job.id)/result")
    report.method = .PUT
    report.headers = ["Content-Type": "application/json"]
    report.body = .bytes(try JSONEncoder().encode(["output": String(job.input.reversed())]))
    let reported = try await send(report)
    guard 200..<300 ~= reported.status.code else { throw Refusal(status: reported.status) }
    print("job \(job.id) is done")
}

/// Makes a request, and repeats it after failures that may pass.
private func send(
    _ request: HTTPClientRequest, until deadline: NIODeadline = .now() + .seconds(60), attempt: Int = 0
) async throws -> HTTPClientResponse {
    let isLast = attempt == 8 || .now() > deadline
    var pause = Double.random(in: 0...0.05) * pow(2, Double(attempt))
    do {
        let response = try await HTTPClient.shared.execute(request, deadline: deadline, logger: Logger(label: "job"))
        guard [408, 429, 500, 502, 503, 504].contains(response.status.code), !isLast else { return response }
        pause = response.headers.first(name: "Retry-After").flatMap(Double.init) ?? pause
    } catch _ where !isLast {}
    try await Task.sleep(for: .seconds(pause))
    return try await send(request, until: deadline, attempt: attempt + 1)
}
