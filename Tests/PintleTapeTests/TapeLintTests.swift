// SPDX-License-Identifier: Apache-2.0

import PintleTape
import Testing

struct TapeLintTests {
    @Test func `identifiers and digests of cloud services are no secrets, and other random texts may be`() throws {
        let random = "DCtOH6oPAi7e0BIX0MeHQSLSNPPzAKVxb8pJgmNB2guVvUkdmkbq"
        let names = [
            "x-amzn-RequestId", "X-Amz-Cf-Id", "x-amz-version-id", "x-amz-checksum-sha256", "X-Azure-Ref",
            "X-GUploader-UploadID", "X-Request-Id", "X-Note",
        ]
        let folder = try TemporaryFolder()
        try Tape(.init(path: folder.path)).add(Recording("GET", "/a", fields: names.map { ($0, random) }))
        var lint = try TapeContent(path: folder.path)
        lint.lint(olderThan: nil)
        #expect(
            lint.findings.map { "\($0.kind): \($0.message)" } == ["entropy: X-Note of the request looks like a secret"])
    }
}
