// SPDX-License-Identifier: Apache-2.0

import Pintle

/// A line of the readings.
private struct Reading: Decodable, Sendable {
    let sensor: String
    let value: Double
}

/// Prints readings as they come, a JSON value on each line.
func printReadings(from url: String, in session: Session) async throws {
    let response = try await session.stream(SessionRequest("GET", url))
    for try await reading in response.body.jsonLines(as: Reading.self) {
        print("\(reading.sensor): \(reading.value)")
    }
}

/// Prints events until the server wants no further connection.
func printEvents(from url: String, in session: Session) async throws {
    let events = session.serverSentEvents(try SessionRequest("GET", url)) { change in
        guard case .waiting(let pause, let error) = change else { return }
        print("again in \(pause): \(error?.message ?? "the stream has ended")")
    }
    for try await event in events {
        print("\(event.event) \(event.id): \(event.data)")
    }
}
