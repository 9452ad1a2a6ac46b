// SPDX-License-Identifier: Apache-2.0

import Pintle

/// Uploads a file and prints its progress in tenths.
func uploadWithProgress(_ file: String, to url: String) async throws {
    let upload = try HTTPSession().task("PUT", url, body: .file(file), as: HTTPResponseSerializer())
    async let answer = upload.run()
    var tenths = 0
    for await progress in upload.task.progressStream {
        let sent = Int((progress.fractionSent ?? 0) * 10)
        guard sent > tenths else { continue }
        tenths = sent
        print("\(sent * 10) %")
    }
    print("status \(try await answer.head.status)")
}
