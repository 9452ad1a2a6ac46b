// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// The example of values that many ask for.
@Suite(.timeLimit(.minutes(15))) struct PictureExampleTests {
    /// Three pixels wide and two high.
    private static let png = Data(
        base64Encoded:
            "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAA3NCSVQICAjb4U/gAAAAEUlEQVQImWP838EAAUwMMAAAHLkBiz6n"
            + "kKQAAAAASUVORK5CYII=")

    @Test func `pictures that are there have their size, and others that of the placeholder`() throws {
        let nginx = try NginxOrigin(locations: "types { image/png png; }")
        try nginx.serve(Array(#require(Self.png)), as: "ada.png")
        let process = try ExampleProcess.run([
            "pictures", "http://127.0.0.1:\(nginx.httpPort)/files", "ada.png", "gone.png", "ada.png",
        ])
        #expect(process.output == ["ada.png: 3 × 2", "gone.png: 1 × 1", "ada.png: 3 × 2"], "\(process.lines)")
    }

    @Test func `a refresh says how far it is, and ends with its task`() throws {
        let nginx = try NginxOrigin()
        try nginx.serve([UInt8](repeating: 0x61, count: 1 << 20), as: "page")
        let process = try ExampleProcess.run(["refresh", "http://127.0.0.1:\(nginx.httpPort)/files/page"])
        #expect(process.output.suffix(3) == ["100 %", "complete", "refreshed: 1048576 characters"], "\(process.lines)")
    }
}
