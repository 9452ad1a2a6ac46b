// SPDX-License-Identifier: Apache-2.0

import Glibc
import PintleTesting
import Testing

@testable import pintle

struct PrivateFolderTests {
    @Test func `a folder is made where TMPDIR says, and in the system's place if none can be made there`() throws {
        let folder = try TemporaryFolder()
        let own = try PrivateFolder.run.make(["TMPDIR": folder.path])
        #expect(own.hasPrefix("\(folder.path)/pintle-run-"))
        let other = try PrivateFolder.run.make(["TMPDIR": "/proc/none"])
        #expect(other.hasPrefix("/tmp/pintle-run-"))
        #expect(rmdir(other) == 0)
    }
}
