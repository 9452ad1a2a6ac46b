// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// The example of a cache of responses.
@Suite(.timeLimit(.minutes(15))) struct CacheExampleTests {
    @Test func `news are read twice from the service, and then from the cache`() throws {
        let count = Watched(0)
        let origin = try RawOrigin { connection in
            while true {
                _ = try connection.readRequest()
                let number = count.change { number -> Int in
                    number += 1; return number
                }
                try connection.send(
                    "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 6\r\n\r\nnews \(number)")
            }
        }
        let process = try ExampleProcess.run(["news", "http://127.0.0.1:\(origin.port)"])
        #expect(process.output.first == "news 1, news 2, news 2", "\(process.lines)")
        #expect(process.output.last?.hasPrefix("1 responses take ") == true && origin.requests.count == 2)
    }
}
