// SPDX-License-Identifier: Apache-2.0

import Logging
import Pintle

private struct Job: Decodable, Sendable {
    let id: Int, input: String
}

/// Takes a job, does it and reports; a busy service is asked again for up to a minute, after the delays that it demands.
func doJob(at base: String) async throws {
    var policy = RetryPolicy()
    policy.limit = 8
    policy.firstDelay = .milliseconds(50)
    var service = try HTTPSession(base: base)
    service.interceptors = [.retry(policy), .logging(Logger(label: "job"))]

    guard let job = try await service.post("jobs/next", as: Job?.self, { $0.isIdempotent = true }) else {
        return print("nothing to do")
    }
    try await service.put("jobs/\(job.id)/result", json: ["output": String(job.input.reversed())]) {
        $0.deadline = .now + .seconds(60)
    }
    print("job \(job.id) is done")
}
