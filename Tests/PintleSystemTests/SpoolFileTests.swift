// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleSystem
import PintleTesting
import Testing

/// Files without a name, and reading of whole files.
struct SpoolFileTests {
    private static func pattern(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 9) }
    }

    @Test(arguments: [0, 1, 4095, 4096, 1_000_003], [0, 1, 5000])
    func `what was appended stands behind what is put in front, in one piece`(count: Int, front: Int) throws {
        let folder = try TemporaryFolder()
        let spool = try SpoolFile(besides: "\(folder.path)/report", room: 10_000)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        let bytes = Self.pattern(count)
        for start in stride(from: 0, to: count, by: 70_001) {
            try spool.append(Array(bytes[start..<min(start + 70_001, count)]))
        }
        #expect(spool.count == count)
        let lead = [UInt8](repeating: 7, count: front)
        // There is nothing to map.
        guard count + front > 0 else { return }
        #expect(try spool.withBytes(behind: lead) { Array($0) }.get() == lead + bytes)
    }

    @Test func `a folder that is not there is an error`() {
        #expect(throws: SystemError(ENOENT)) { try SpoolFile(besides: "/none/report", room: 0) }
    }

    @Test func `a file is read behind space, and not beyond its limit`() throws {
        let folder = try TemporaryFolder()
        let bytes = Self.pattern(600_000)
        let path = try folder.write(bytes, to: "file")
        #expect(try FileBytes.read(path, atMost: bytes.count, behind: 3) == [0, 0, 0] + bytes)
        #expect(throws: SystemError(EFBIG)) { try FileBytes.read(path, atMost: bytes.count - 1) }
        #expect(throws: SystemError(EFBIG)) { try FileBytes.read("/dev/zero", atMost: 1 << 20) }
        #expect(try FileBytes.read("/dev/zero", atMost: 1 << 20, beginningWith: [0, 1]).count < 1 << 20)
        #expect(try FileBytes.read(path, atMost: bytes.count, beginningWith: Array(bytes.prefix(9))) == bytes)
        #expect(throws: SystemError(EISDIR)) { try FileBytes.read(folder.path, atMost: 10) }
    }
}
