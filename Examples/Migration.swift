// SPDX-License-Identifier: Apache-2.0

import Logging
import Pintle
import PintleExtras

// Lines to write in place of those of other libraries, quoted by the article LineByLine; they are compiled, not run.

private struct User: Codable, Sendable {
    let name: String
}

func insteadOfURLSession(_ file: String, _ credential: Credential) async throws {
    var configuration = SessionConfiguration()
    configuration.additionalFields = ["X-App": "mine"]
    configuration.resourceTimeout = .seconds(600)
    configuration.cookies = .jar(CookieJar())
    let hooks = SessionHooks { hooks in
        hooks.wasChallenged = { _, _ in .use(credential) }
        hooks.willRedirect = { _, request, _ in request }
        hooks.decidesTrust = { _, trust in trust.chain.isEmpty ? .refuse("no certificate") : .evaluate }
    }
    let api = try HTTPSession(base: "https://api.example/", configuration: configuration, hooks: hooks)

    let answer = try await api.get("users/1")
    let user = try await api.get("users/1", as: User.self)
    _ = try await api.get("users/1") { $0.fields.set("Accept-Language", "fr") }
    _ = try await api.get("slow") { $0.timeout = .seconds(300) }
    _ = try await api.get("news") { $0.cachePolicy = .ignoreLocal }
    _ = try await api.get("call") { $0.serviceType = .voice }
    try await api.put("file", body: .file(file))
    try await api.download("file", to: .file(file))
    for try await line in try await api.stream("log").body.lines() { print(line) }
    let socket = try await api.webSocket("live")

    let task = try api.session.downloadTask(SessionRequest("GET", "https://api.example/file"), to: .file(file))
    task.resume()
    task.suspend()
    for await progress in task.progressStream { print(progress.fractionReceived ?? 0) }
    let part = await task.cancelKeepingPart()
    await api.session.finishTasksAndInvalidate()
    print(answer.text, user.name, socket.url, part?.offset ?? 0)
}

func insteadOfAlamofire(_ file: String, _ pins: Set<Pin>, _ user: some Codable & Sendable) async throws {
    let policy = try SecurityPolicy(pinning: .publicKey, pins: pins)
    var api = try HTTPSession(base: "https://api.example/", policy: policy)
    let tokens = BearerTokens { [api] _ in try await api.post("token").text }
    let logger = Logger(label: "api")
    api.interceptors = [.bearer(tokens), .retry(), .logging(logger)]
    api.interceptors.append(Interceptor { $0.adapt = { request, _ in request.fields.set("X-App", "mine") } })

    let found = try await api.get("users", parameters: ["name": "Ada"], as: [User].self)
    try await api.post("users", json: user)
    try await api.post("login", body: .parameters(["user": "Ada"]))
    var form = MultipartForm()
    try form.append(name: "file", file: file)
    let upload = try api.task("POST", "form", body: .multipart(form), as: HTTPResponseSerializer())
    for await progress in upload.task.progressStream { print(progress.fractionSent ?? 0) }
    try await api.download("file", to: .file(file, resuming: true))
    _ = try await api.get("old") { $0.redirects = .never }
    for try await user in try await api.stream("users").body.jsonLines(as: User.self) { print(user.name) }
    for await event in api.session.eventStream() { print(event) }
    let reachability = try Reachability(.host("api.example"))
    try reachability.start()
    print(found.count)
}

private actor TaskBar: ProgressReporter {
    func report(_ progress: TaskProgress) { print(progress.fractionReceived ?? 0) }
}

func insteadOfAFNetworking(_ certificates: [Certificate]) async throws {
    let policy = try SecurityPolicy(pinning: .certificate, certificates: certificates)
    var api = try HTTPSession(base: "https://api.example/", policy: policy)
    var serializer = JSONRequestSerializer()
    try serializer.http.setField("X-App", to: "mine")
    try serializer.http.setAuthorization(user: "ada", password: "secret")
    api.requestSerializer = serializer
    var json = JSONResponseSerializer()
    json.acceptableContentTypes?.insert("text/json")
    json.rule.removesNulls = true

    let items = try await api.get("items", parameters: ["page": 2], as: json)
    try await api.post("items", body: .parameters(["name": "hinge"]))
    let image = try await api.get("logo.png", as: ImageResponseSerializer(decoder: ImageDecoder()))
    let tree = try await api.get("feed.xml", as: XMLDocumentResponseSerializer())
    let operation = try api.operation("GET", "items")
    operation.start()
    let pictures = Downloader(api, as: ImageResponseSerializer(decoder: try ImageDecoder()).required())
    let receipt = pictures.download("logo.png") { result in print(result) }
    if let receipt { pictures.cancel(receipt) }
    let slot = DownloadSlot(pictures)
    slot.load("logo.png", placeholder: nil)
    let bar = TaskBar()
    receipt?.task.bindProgress(to: bar)
    let spinner = TaskIndicator()
    spinner.bind(to: receipt?.task)
    let indicator = ActivityIndicator { print("busy: \($0)") }
    indicator.observe(api.session)
    let reachability = try Reachability()
    reachability.onChange { print($0) }
    await api.session.invalidateAndCancel()
    print(items.value ?? .null, image.head.status, tree.head.status)
}

func insteadOfAsyncHTTPClient(_ file: String, _ roots: [Certificate], _ pieces: AsyncStream<ByteBuffer>) async throws {
    var configuration = SessionConfiguration()
    configuration.connectTimeout = .seconds(1)
    configuration.timeout = .seconds(1)
    configuration.redirects = .never
    configuration.decompression = .on(ratio: 10)
    configuration.connectionsPerHost = 200
    configuration.httpVersion = .http1
    configuration.proxy = ProxyServer(Authority(host: "127.0.0.1", port: 3128))
    let policy = try SecurityPolicy(pinning: .none, roots: .only(roots))
    let client = try HTTPSession(configuration: configuration, policy: policy)
    let own = try Session(engine: Engine(threads: 2), configuration: configuration, policy: policy)

    let answer = try await client.get("https://api.example/users/1")
    _ = try await client.get("https://api.example/users/1") { $0.deadline = .now + .seconds(5) }
    try await client.post("https://api.example/notes", body: .bytes(Array("some data".utf8)))
    try await client.post("https://api.example/notes", body: .stream(BodyStream(pieces)))
    for try await piece in try await client.stream("https://api.example/large").body { print(piece.readableBytes) }
    try await client.download("https://api.example/file", to: .file(file))
    print(answer.head.status, answer.value.count, own.configuration.timeout)
}
