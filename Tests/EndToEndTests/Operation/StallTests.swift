// SPDX-License-Identifier: Apache-2.0

import Glibc
import PintleTesting
import Testing

/// Reports of the program on turns that hold up its loops.
struct StallTests {
    @Test func `the counters tell how long the turns of the loops took`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try PintleProcess()
        #expect(try pintle.ask(get(origin.port)).text == "done")
        pintle.process.signal(SIGUSR1)
        let turns = try #require(try pintle.waitForMessages("loop.turns").first)
        #expect(try #require(turns["turns"] as? Int) > 0)
        #expect(turns["longest_ms"] is Int && turns["over_10ms"] is Int && turns["slow"] == nil)
        #expect(try pintle.stop() == 0)
        #expect(try pintle.waitForMessages("loop.turns", 2).count == 2)
        #expect(pintle.slowTurns.isEmpty)
    }

    @Test func `a limit for turns that is no duration is refused`() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("version: 1\nlisten: [\"127.0.0.1:0\"]\n", to: "pintle.yaml")
        let process = try PintleProcess.run(["serve", "-c", file], environment: ["PINTLE_TURN_LIMIT": "soon"])
        #expect(process.exitCode == 2)
        #expect(
            process.errors.last
                == "PINTLE_TURN_LIMIT=soon: must be a duration: a whole number with a unit, as in 250ms, 10s, 5m, "
                + "1h or 2d, or off")
    }
}
