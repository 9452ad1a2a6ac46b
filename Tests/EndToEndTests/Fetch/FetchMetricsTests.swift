// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// `fetch --metrics`: the metrics that programs get.
struct FetchMetricsTests {
    @Test func `metrics tell programs how it went, without secrets`() throws {
        let origin = try RawOrigin(answering: response("fine", fields: "Content-Type: text/plain\r\n"))
        let url = "http://127.0.0.1:\(origin.port)/"
        let process = try fetch(
            "\(url)x?key=1", "--param", "secret=env:SECRET", "--metrics", environment: ["SECRET": "s3cret"])
        #expect(process.exitCode == 0 && process.output == ["fine"])
        let report = try #require(metrics(process.errors).first)
        #expect(report["url"] as? String == "\(url)x?key=***&secret=***" && report["status"] as? Int == 200)
        #expect(report["method"] as? String == "GET" && report["content_type"] as? String == "text/plain")
        #expect(report["bytes_received"] as? Int == 4 && report["redirects"] as? Int == 0)
        let request = try #require((report["requests"] as? [[String: Any]])?.first)
        #expect(request["address"] as? String == "127.0.0.1" && request["http_version"] as? String == "1.1")
        #expect(request["reused_connection"] as? Bool == false && (request["total_us"] as? Int).map { $0 > 0 } == true)
        #expect(!process.errors.contains { $0.contains("s3cret") })
        #expect(origin.requests.first?.head.startLine == "GET /x?key=1&secret=s3cret HTTP/1.1")
    }

    @Test func `metrics name the failure`() throws {
        let process = try fetch("http://127.0.0.1:\(try FreePort.find())/", "--metrics")
        #expect(process.exitCode == 4 && metrics(process.errors).first?["error"] as? String == "connectionRefused")
    }

    @Test func `what was typed as env: is in no message`() throws {
        let origin = try RawOrigin(answering: "HTTP/1.1 302 Found\r\nLocation: ?\r\nContent-Length: 0\r\n\r\n")
        let process = try fetch(
            "http://127.0.0.1:\(origin.port)/", "--param", "secret=env:SECRET", environment: ["SECRET": "s3cret"])
        #expect(process.exitCode == 4 && origin.requests.first?.head.startLine.contains("s3cret") == true)
        #expect(process.errors.first?.contains("leads to more than 20 redirects") == true, "\(process.lines)")
        #expect(!process.errors.contains { $0.contains("s3cret") }, "\(process.lines)")
    }
}
