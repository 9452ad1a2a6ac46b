// SPDX-License-Identifier: Apache-2.0

import Pintle
import PintleSessionTesting

/// A service of a program, over any sender of requests.
struct Weather: Sendable {
    struct Report: Codable, Sendable {
        let city: String
        let degrees: Int
    }

    let api: any HTTPSending

    func warmest(of cities: [String]) async throws -> String? {
        var reports: [Report] = []
        for city in cities { reports.append(try await self.api.get("reports/\(city)", as: Report.self)) }
        return reports.max { $0.degrees < $1.degrees }?.city
    }
}

/// Tests the service without a network.
func testWeather() async throws {
    let service = try RecordingSession()
    try service.on("GET", "reports/oslo", .json(Weather.Report(city: "Oslo", degrees: 9)))
    try service.on("GET", "reports/rome", .status(503), .json(Weather.Report(city: "Rome", degrees: 27)))

    var client = service.client
    client.interceptors.insert(.retry(), at: 0)
    let warmest = try await Weather(api: client).warmest(of: ["oslo", "rome"])
    print("\(warmest ?? "nowhere"), after \(service.requests.count) requests")
}
