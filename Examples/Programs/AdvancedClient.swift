// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import Pintle

/// An answer whose names are in snake case.
private struct Session: Decodable, Sendable {
    let userName: String
}

/// Does everything that Alamofire's advanced usage shows: session settings, trust by pins, fields for every request,
/// renewed tokens, retries, a log, decoding with other settings, redirects by rule, a form with its progress.
func advanced(at base: String, roots: SecurityPolicy.Roots, pins: [Pin]) async throws {
    var configuration = SessionConfiguration()
    configuration.timeout = .seconds(30)
    configuration.redirects = .sameOrigin
    configuration.additionalFields = ["Accept-Language": "fr"]
    let policy = try SecurityPolicy(pinning: .publicKey, pins: Set(pins), roots: roots)
    let plain = try HTTPSession(base: base, configuration: configuration, policy: policy)

    var api = plain
    api.makeDecoder = {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }
    api.interceptors = [
        .bearer(BearerTokens { _ in try await plain.post("token").text }),
        .retry(),
        .logging(Logger(label: "advanced")),
    ]

    let session = try await api.get("session", parameters: ["verbose": true], as: Session.self)
    print("hello \(session.userName)")

    var form = MultipartForm()
    form.append(name: "user", text: session.userName)
    try form.append(name: "picture", bytes: Array(repeating: 7, count: 100_000), fileName: "p.bin", type: "image/x-own")
    let upload = try api.task("POST", "pictures", body: .multipart(form), as: HTTPResponseSerializer())
    async let answer = upload.run()
    for await progress in upload.task.progressStream where progress.fractionSent == 1 {
        print("sent")
        break
    }
    print("status \(try await answer.head.status)")
}
