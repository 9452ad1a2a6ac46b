// SPDX-License-Identifier: Apache-2.0

import Pintle

/// Does everything that AFNetworking's README shows: a download, an upload from a file, a form with its progress, a data
/// task, requests in three forms, reachability, and a policy for certificates.
func managerTour(at base: String, file: String, to copy: String, roots: SecurityPolicy.Roots) async throws {
    let policy = try SecurityPolicy(pinning: .none, roots: roots)
    var manager = try HTTPSession(base: base, policy: policy)

    try await manager.download("file", to: .file(copy))
    print("downloaded to \(copy)")

    let uploaded = try await manager.post("upload", body: .file(file))
    print("uploaded: \(uploaded.head.status)")

    var form = MultipartForm()
    try form.append(name: "file", file: file, fileName: "filename.jpg", type: "image/jpeg")
    let task = try manager.task("POST", "form", body: .multipart(form), as: HTTPResponseSerializer())
    async let answered = task.run()
    for await progress in task.task.progressStream where progress.fractionSent == 1 {
        print("form sent")
        break
    }
    print("form: \(try await answered.head.status)")

    let parameters: Parameter = ["foo": "bar", "baz": [1, 2, 3]]
    let query = try await manager.get("echo", parameters: parameters)
    let body = try await manager.post("echo", body: .parameters(parameters))
    manager.requestSerializer = JSONRequestSerializer()
    let json = try await manager.post("echo", body: .parameters(parameters))
    for answer in [query, body, json] { print(answer.text) }

    let reachability = try Reachability()
    let changes = reachability.changes
    try reachability.start()
    for await status in changes {
        print("network: \(status)")
        break
    }
}
