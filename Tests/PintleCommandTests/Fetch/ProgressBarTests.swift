// SPDX-License-Identifier: Apache-2.0

import PintleSystem
import Testing

@testable import pintle

/// Progress as text: the same state is always the same line.
struct ProgressBarTests {
    private func bar(
        _ name: String = "data.bin", _ received: UInt64 = 0, of whole: UInt64? = nil, seconds: Int = 0
    ) -> ProgressBar {
        var bar = ProgressBar(name)
        (bar.received, bar.expectedToReceive, bar.elapsed) = (received, whole, .seconds(seconds))
        return bar
    }

    @Test func `a bar fills the line with what is done, the percentage, the speed and the time left`() {
        let line = self.bar("data.bin", 3 << 20, of: 12 << 20, seconds: 3).line(width: 60, isColoured: true)
        #expect(line == "data.bin  [####-------------]  25%  3.0 MiB  1.0 MiB/s  0:09")
        #expect(line.count == 60)
    }

    @Test func `a line is never longer than the terminal`() {
        for width in 1...120 {
            for (received, whole) in [(0, nil), (5_000_000, nil), (0, 1), (1, 3), (9_999_999, 10_000_000)]
                as [(UInt64, UInt64?)]
            {
                var bar = self.bar("a-name-that-is-longer-than-fits.tar.gz", received, of: whole, seconds: 7)
                for ending in [nil, .done, .failed] as [ProgressBar.Ending?] {
                    bar.ending = ending
                    #expect(bar.line(width: width, isColoured: false).count <= width)
                }
            }
        }
    }

    @Test func `without a known length there is no bar`() {
        #expect(self.bar("x", 2048, seconds: 2).line(width: 80, isColoured: false) == "x  2.0 KiB  1.0 KiB/s")
        #expect(self.bar("x").line(width: 80, isColoured: false) == "x  0 B")
    }

    @Test func `where there is no room for a bar the numbers stay`() {
        let line = self.bar("x", 512, of: 1024, seconds: 1).line(width: 30, isColoured: false)
        #expect(line == "x  50%  512 B  512 B/s  0:01")
    }

    @Test func `a body that is being sent says so`() {
        var bar = ProgressBar("x")
        (bar.sent, bar.expectedToSend, bar.elapsed) = (512, 1024, .seconds(1))
        #expect(bar.line(width: 52, isColoured: false) == "x  [#######--------]  50%  sent 512 B  512 B/s  0:01")
    }

    @Test func `what an earlier transfer brought says nothing about the speed`() {
        var bar = self.bar("x", 3 << 20, seconds: 1)
        bar.resumedAt = 2 << 20
        #expect(bar.line(width: 80, isColoured: false) == "x  3.0 MiB  1.0 MiB/s")
    }

    @Test func `endings are coloured where colour is wanted`() {
        var bar = self.bar("x", 1 << 20, of: 1 << 20, seconds: 2)
        bar.ending = .done
        #expect(bar.line(width: 80, isColoured: false) == "x  1.0 MiB in 0:02  512.0 KiB/s")
        #expect(bar.line(width: 80, isColoured: true) == "\u{1B}[32mx  1.0 MiB in 0:02  512.0 KiB/s\u{1B}[0m")
        bar.ending = .failed
        #expect(bar.line(width: 80, isColoured: true) == "\u{1B}[31mx  failed after 1.0 MiB\u{1B}[0m")
    }

    @Test func `a long name loses its middle`() {
        let line = self.bar("a-very-long-name-indeed-of-a-file.tar.gz").line(width: 80, isColoured: false)
        #expect(line == "a-very-long-…file.tar.gz  0 B")
    }

    @Test(arguments: [
        (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (1_048_575, "1023.9 KiB"),
        (1 << 20, "1.0 MiB"), (5 << 30, "5.0 GiB"), (UInt64.max, "15.9 EiB"),
    ])
    func `sizes are short`(bytes: UInt64, text: String) { #expect(bytes.readableSize == text) }

    @Test(arguments: [(0, "0:00"), (65, "1:05"), (3599, "59:59"), (3661, "1:01:01")])
    func `times are short`(seconds: Int, text: String) { #expect(ProgressBar.time(.seconds(seconds)) == text) }

    @Test func `lines are written over those that were there`() {
        #expect(ProgressFrame.text(over: 0, finished: [], running: ["a", "b"]) == "a\nb")
        #expect(ProgressFrame.text(over: 1, finished: [], running: ["a"]) == "\r\u{1B}[Ja")
        #expect(
            ProgressFrame.text(over: 3, finished: ["done"], running: ["b", "c"]) == "\r\u{1B}[2A\u{1B}[Jdone\nb\nc")
        #expect(ProgressFrame.text(over: 1, finished: ["done"], running: []) == "\r\u{1B}[Jdone\n")
    }
}
