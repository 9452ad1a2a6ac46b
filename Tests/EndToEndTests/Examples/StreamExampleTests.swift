// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// The examples that print data while they arrive.
struct StreamExampleTests {
    @Test func `readings are printed until one is no reading`() throws {
        let origin = try NginxOrigin()
        let readings =
            "{\"sensor\":\"hall\",\"value\":19.5}\n\n{\"sensor\":\"roof\",\"value\":-3}\n{\"sensor\":\"x\"}\n"
        try origin.serve(Array(readings.utf8), as: "readings")
        let process = try ExampleProcess.run(["readings", "http://127.0.0.1:\(origin.httpPort)/files/readings"])
        #expect(
            process.output == [
                "hall: 19.5", "roof: -3.0",
                "failed: line 4: the JSON is not what is expected: there is no “value”",
            ], "\(process.lines)")
        #expect(process.exitCode == 1)
    }

    @Test func `events are printed over two connections`() throws {
        let origin = try RawOrigin { connection in
            let request = try connection.readRequest()
            guard connection.number < 2 else { return try connection.send("HTTP/1.1 204 Done\r\n\r\n") }
            try connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nretry: 200\n")
            let id = request["Last-Event-ID"] ?? "0"
            try connection.send("id: \(id)1\nevent: tick\ndata: after \(id)\n\n")
        }
        let process = try ExampleProcess.run(["events", "http://127.0.0.1:\(origin.port)/"])
        let again = "again in 0.2 seconds: the stream has ended"
        #expect(
            process.output == ["tick 01: after 0", again, "tick 011: after 01", again], "\(process.lines)")
        #expect(process.exitCode == 0)
    }
}
