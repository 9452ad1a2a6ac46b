// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import pintle

/// The digests of a configuration, which others may read.
struct ConfigurationDigestTests {
    @Test func `the values of a list's query stand in no digest`() throws {
        let files = ReadFiles()
        files.note(list: "https://lists.test/ads?key=secret", sha256: "00")
        files.note(list: "https://lists.test/b", sha256: "11")
        let digest = try ConfigurationDigest(files)
        #expect(digest.files.map(\.path) == ["https://lists.test/ads?key=***", "https://lists.test/b"])
        #expect(digest.files.map(\.sha256) == ["00", "11"])
    }
}
