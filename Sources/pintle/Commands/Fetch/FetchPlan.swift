// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import PintleMessage
internal import PintlePolicy
internal import PintleSerialization
internal import PintleSession
internal import PintleSystem
internal import PintleTrust

/// The plan of a `fetch` command line, checked as a whole before anything is sent.
struct FetchPlan {
    /// The formats of a body made from parameters.
    enum Serialization: String, CaseIterable {
        case http, json, plist, multipart
    }

    /// The kinds of body that can be required.
    enum BodyExpectation: String, CaseIterable {
        case json, xml, plist, image
    }

    /// The destination of response bodies.
    enum Output: Equatable {
        case standardOutput
        case file(String)
        case folder(String)
    }

    /// One URL, with the destination of its body.
    struct Target: Sendable {
        let request: SessionRequest
        /// The path of the file; nil for standard output.
        let file: String?
        /// The name in messages if there are several targets.
        let name: String
    }

    let targets: [Target]
    let body: FetchBody
    let contract: ResponseContract
    /// True if the contract comes from the command line; false for the default one, which only excludes error statuses.
    let hasExpectations: Bool
    let policy: SecurityPolicy
    let output: Output
    let resumes: Bool
    /// True if the head of the response precedes its body on standard output.
    let includesHead: Bool
    /// The number of transfers at a time.
    let width: Int
    let showsMetrics: Bool

    /// Reads a command line.
    ///
    /// - Throws: ``CommandFailure`` with `usage` for an invalid command line, and with `incomplete` for a file that cannot
    ///   be read.
    init(_ options: Fetch, surroundings: LoaderEnvironment) throws(CommandFailure) {
        let (method, addresses) = try Self.methodAndURLs(options)
        let body = try FetchBody.Draft(options, method: method, surroundings)
        let fields = try Self.fields(options, surroundings)
        var requests: [SessionRequest] = []
        for url in addresses {
            var request = SessionRequest(body.method, url, fields: fields)
            request.throttle = try Self.throttle(options.throttle, hasBody: body.isPresent)
            requests.append(request)
        }
        self.body = try body.place(in: &requests)
        self.output = try Self.output(options, method: body.method, fields)
        self.targets = try Self.targets(requests, self.output)
        self.contract = try Self.contract(options)
        self.hasExpectations = !options.expectStatus.isEmpty || !options.expectType.isEmpty || options.expectBody != nil
        self.policy = try Self.policy(options)
        self.resumes = options.resume
        self.includesHead = options.include
        self.width = options.parallel ?? 1
        self.showsMetrics = options.metrics
    }

    // MARK: Method and URLs

    private static func methodAndURLs(_ options: Fetch) throws(CommandFailure) -> (String?, [HTTPURL]) {
        var words = options.words[...]
        var method: String?
        // A URL never consists only of letters and hyphens.
        if words.count > 1, let first = words.first, first.utf8.allSatisfy(Self.isMethodByte) {
            method = words.removeFirst()
        }
        guard !words.isEmpty else { throw .usage("URL is missing; pintle fetch --help shows how it is used") }
        if let width = options.parallel {
            guard (1...64).contains(width) else { throw .usage("--parallel \(width): must be from 1 to 64") }
        } else if words.count == 2, let last = words.last, last.utf8.allSatisfy(Self.isMethodByte) {
            throw .usage("the method comes first, as in: pintle fetch \(last) \(words.first ?? "")")
        } else if words.count > 1 {
            throw .usage("\(words.count) URLs: say with --parallel how many to request at a time")
        }
        var urls: [HTTPURL] = []
        for (index, word) in words.enumerated() {
            do throws(HTTPURLError) {
                urls.append(try HTTPURL(word))
            } catch {
                let which = words.count > 1 ? "URL \(index + 1)" : "URL"
                throw .usage("\(which): \(error)")
            }
        }
        return (method, urls)
    }

    private static func isMethodByte(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "-") || (byte | 0x20) &- UInt8(ascii: "a") < 26
    }

    // MARK: Fields

    private static func fields(_ options: Fetch, _ surroundings: LoaderEnvironment) throws(CommandFailure) -> Fields {
        let reader = GivenField(of: "pintle fetch", surroundings)
        var fields = Fields()
        for text in options.header {
            let (name, value) = try reader.read(text)
            fields.append(name, value)
        }
        if !fields.contains("User-Agent") { fields.append("User-Agent", "pintle/\(Version.number)") }
        if !fields.contains("Accept") { fields.append("Accept", "*/*") }
        return fields
    }

    private static func throttle(_ text: String?, hasBody: Bool) throws(CommandFailure) -> Throttle? {
        guard let text else { return nil }
        guard hasBody else { throw .usage("--throttle: there is no body whose sending it could slow down") }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else {
            throw .usage("--throttle \(text): must be a size and a duration, as 16KiB/200ms")
        }
        do {
            let packet = try Spelling.byteCount(parts[0], 1...(1 << 30))
            let delay = try Spelling.duration(parts[1], .zero ... .seconds(3600))
            return try Throttle(packet: packet, delay: delay)
        } catch {
            throw .usage("--throttle \(text): \(error)")
        }
    }

    // MARK: Expectations

    private static func contract(_ options: Fetch) throws(CommandFailure) -> ResponseContract {
        var contract = ResponseContract()
        do throws(Malformed) {
            if !options.expectStatus.isEmpty {
                let texts = options.expectStatus.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
                var statuses: [ClosedRange<UInt16>] = []
                for text in texts { statuses.append(try Spelling.statuses(String(text))) }
                contract.acceptableStatusCodes = statuses
            }
        } catch {
            throw .usage("--expect-status: each \(error)")
        }
        do throws(Malformed) {
            for text in options.expectType {
                contract.acceptableContentTypes = (contract.acceptableContentTypes ?? []).union([
                    try Spelling.mediaType(text)
                ])
            }
        } catch {
            throw .usage("--expect-type: \(error)")
        }
        if let expectation = options.expectBody { contract.body = try expectation.rule() }
        return contract
    }

    private static func policy(_ options: Fetch) throws(CommandFailure) -> SecurityPolicy {
        var pins: Set<Pin> = []
        for text in options.pin {
            do throws(TrustError) {
                pins.insert(try Pin(text))
            } catch {
                throw .usage("--pin: \(error)")
            }
        }
        do throws(TrustError) {
            let roots = try options.roots.map { path throws(TrustError) in try Certificate.load(path: path) }
            return try SecurityPolicy(
                pinning: pins.isEmpty ? .none : .publicKey, pins: pins, roots: roots.map { .only($0) } ?? .system)
        } catch {
            throw CommandFailure(.incomplete, "pintle fetch: --roots: \(error)")
        }
    }

    // MARK: Output

    private static func output(_ options: Fetch, method: String, _ fields: Fields) throws(CommandFailure) -> Output {
        guard let path = options.output else {
            guard options.parallel == nil else { throw .usage("--parallel needs -o and a folder for the bodies") }
            guard !options.resume else { throw .usage("--resume needs -o and the file to go on with") }
            return .standardOutput
        }
        guard !options.include else {
            throw .usage(
                "--include: a file has the body alone, so that it can be resumed; redirect standard output instead of -o"
            )
        }
        guard method != "HEAD" else { throw .usage("-o: the response to HEAD has no body to write") }
        if options.resume {
            guard method == "GET" else { throw .usage("--resume: only GET can go on where it ended, not \(method)") }
            guard !fields.contains("Range") else { throw .usage("--resume asks for a range itself; leave Range out") }
        }
        var status = stat()
        let isFolder = pathStat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
        if options.parallel != nil {
            guard isFolder else { throw .usage("-o \(path): is no folder; make it first") }
            return .folder(path)
        }
        guard !path.isEmpty, !isFolder else {
            throw .usage("-o \(path): is a folder; name a file in it")
        }
        return .file(path)
    }

    private static func targets(_ requests: [SessionRequest], _ output: Output) throws(CommandFailure) -> [Target] {
        var targets: [Target] = []
        var taken: [String: Int] = [:]
        for (index, request) in requests.enumerated() {
            let name = request.url.fileName
            switch output {
            case .standardOutput, .file:
                let file: String? = if case .file(let path) = output { path } else { nil }
                targets.append(Target(request: request, file: file, name: name ?? request.url.authority.host))
            case .folder(let folder):
                guard let name else {
                    throw .usage("URL \(index + 1): its path ends with no name for a file; request it by itself")
                }
                if let other = taken.updateValue(index + 1, forKey: name) {
                    // A URL that is given twice is transferred once, unless the requests may have side effects.
                    if request.method == "GET", requests[other - 1] == request { continue }
                    throw .usage("URL \(other) and URL \(index + 1) would both be written to \(name)")
                }
                targets.append(Target(request: request, file: "\(folder)/\(name)", name: name))
            }
        }
        return targets
    }
}

extension CommandFailure {
    /// Returns the error for an invalid command line of `fetch`.
    static func usage(_ message: String) -> CommandFailure { CommandFailure(.usage, "pintle fetch: \(message)") }
}
