// SPDX-License-Identifier: Apache-2.0

import PintleSerialization
import PintleSession
import PintleTesting
import Testing

/// Files that change between their adding to a form and its sending.
@Suite(.timeLimit(.minutes(15))) struct FormFileTests {
    @Test(arguments: ["012345678", "01234567890"])
    func `MPF-15 a file that is longer or shorter than when it was added is an error, and is named`(
        later: String
    ) async throws {
        let folder = try TemporaryFolder()
        let origin = try RawOrigin(answering: response("done"))
        var form = MultipartForm()
        let path = try folder.write("0123456789", to: "a.txt")
        try form.append(name: "file", file: path)
        try folder.write(later, to: "a.txt")
        let error = try await SessionStage().failure(
            of: request(origin.port, method: "POST"), from: .multipart(form))
        #expect(error?.code == .unreadableSource)
        #expect(error?.message == "\(path) has \(later.utf8.count) bytes; it had 10 when the form was made")
        #expect(origin.requests.isEmpty)
    }
}
