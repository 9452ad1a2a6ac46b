// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage
internal import PintlePolicy
internal import PintleSerialization
internal import PintleSession

/// The body of the requests of `fetch`.
enum FetchBody: Sendable {
    case none
    case bytes([UInt8])
    case form(MultipartForm)
    /// A JSON document in a file; the path `-` stands for standard input.
    case json(path: String)

    /// The body that the command line specifies, before the requests exist.
    struct Draft {
        /// The method of the requests.
        let method: String
        private let content: Content

        private enum Content {
            case none
            /// Parameters for a serializer other than multipart.
            case parameters([Pair], FetchPlan.Serialization)
            case form([Pair], isMultipart: Bool)
            case json(path: String)
        }

        var isPresent: Bool {
            switch self.content {
            case .none: false
            // By default, serializers put the parameters of these methods into the URL.
            case .parameters: !HTTPRequestSerializer().uriMethods.contains(self.method.uppercased())
            case .form, .json: true
            }
        }
    }

    /// A name with a value from the command line.
    struct Pair {
        let name: String
        /// The value, or the path of the file that has it.
        let text: String
        let isFile: Bool
    }
}

extension FetchBody.Draft {
    init(_ options: Fetch, method: String?, _ surroundings: LoaderEnvironment) throws(CommandFailure) {
        try Self.checkCombination(options)
        let parameters = try Self.pairs(options.param, "--param", takesFiles: false, surroundings)
        let form = try Self.pairs(options.form, "--form", takesFiles: true, surroundings)
        var hasBody = true
        if let path = options.json {
            self.content = .json(path: path)
        } else if !form.isEmpty {
            let hasFile = form.contains(where: \.isFile)
            guard !hasFile || options.serialize != .http else {
                throw .usage("--serialize http cannot carry the files of --form; use multipart")
            }
            self.content = .form(form, isMultipart: hasFile || options.serialize == .multipart)
        } else if !parameters.isEmpty {
            let format = options.serialize ?? .http
            self.content = format == .multipart ? .form(parameters, isMultipart: true) : .parameters(parameters, format)
            // Naming a format other than http implies a body.
            hasBody = format != .http
        } else {
            self.content = .none
            hasBody = false
        }
        self.method = method ?? (hasBody ? "POST" : "GET")
        let takesNone = ["GET", "HEAD"].contains(self.method)
        guard !takesNone || (options.json == nil && form.isEmpty && options.serialize != .multipart) else {
            throw .usage("\(self.method) carries no body; use POST or PUT, or --param for the query")
        }
    }

    private static func checkCombination(_ options: Fetch) throws(CommandFailure) {
        if options.json != nil {
            guard options.form.isEmpty, options.param.isEmpty else {
                let other = options.form.isEmpty ? "--param" : "--form"
                throw .usage(
                    "--json is the whole body, so \(other) has no place; write parameters into the URL's query")
            }
            guard options.serialize == nil else { throw .usage("--json is sent as it is; leave --serialize out") }
        }
        guard options.form.isEmpty || options.param.isEmpty else {
            throw .usage("--form and --param would both be the body; use one of them for all")
        }
        if let format = options.serialize {
            guard !options.form.isEmpty || !options.param.isEmpty else {
                throw .usage("--serialize \(format.rawValue): there is no --param and no --form to serialize")
            }
            guard options.form.isEmpty || format == .http || format == .multipart else {
                throw .usage("--form is sent as http or multipart; for \(format.rawValue) use --param")
            }
        }
    }

    private static func pairs(
        _ texts: [String], _ option: String, takesFiles: Bool, _ surroundings: LoaderEnvironment
    ) throws(CommandFailure) -> [FetchBody.Pair] {
        var pairs: [FetchBody.Pair] = []
        for text in texts {
            guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
                throw .usage("\(option): needs a name, an equals sign and a value, as in \(option) page=2")
            }
            let (name, value) = (String(text[..<equals]), String(text[text.index(after: equals)...]))
            // The text as typed is checked: a secret that begins with @ is not a path.
            if takesFiles, value.hasPrefix("@") {
                pairs.append(FetchBody.Pair(name: name, text: String(value.dropFirst()), isFile: true))
                continue
            }
            do throws(Malformed) {
                pairs.append(FetchBody.Pair(name: name, text: try surroundings.value(of: value), isFile: false))
            } catch {
                throw CommandFailure(.incomplete, "pintle fetch: \(option) \(name): \(error)")
            }
        }
        return pairs
    }

    // MARK: Placing

    /// Puts parameters into the requests' URLs, and their content type into the fields.
    ///
    /// - Returns: the body of all requests.
    func place(in requests: inout [SessionRequest]) throws(CommandFailure) -> FetchBody {
        do throws(SerializationError) {
            switch self.content {
            case .none: return .none
            case .json(let path):
                requests.setContentTypeIfAbsent("application/json")
                return .json(path: path)
            case .form(let pairs, isMultipart: true): return try Self.multipart(pairs, in: &requests)
            case .form(let pairs, isMultipart: false):
                requests.setContentTypeIfAbsent("application/x-www-form-urlencoded")
                var fields: [String] = []
                for pair in pairs { fields.append(try QueryString.encode(.repeating([pair]))) }
                return .bytes(Array(fields.joined(separator: "&").utf8))
            case .parameters(let pairs, let format):
                var body: [UInt8]?
                for index in requests.indices { body = try requests[index].serialize(pairs, format) }
                return body.map { .bytes($0) } ?? .none
            }
        } catch {
            let code: ProcessExit = error.code == .unreadableFile ? .incomplete : .usage
            throw CommandFailure(code, "pintle fetch: \(error)")
        }
    }

    private static func multipart(
        _ pairs: [FetchBody.Pair], in requests: inout [SessionRequest]
    ) throws(SerializationError) -> FetchBody {
        var form = MultipartForm()
        for pair in pairs {
            if pair.isFile {
                try form.append(name: pair.name, file: pair.text)
            } else {
                form.append(name: pair.name, text: pair.text)
            }
        }
        // Only the form knows its boundary.
        for index in requests.indices { requests[index].fields.set("Content-Type", form.contentType) }
        return .form(form)
    }
}

extension [SessionRequest] {
    fileprivate mutating func setContentTypeIfAbsent(_ type: String) {
        for index in self.indices where !self[index].fields.contains("Content-Type") {
            self[index].fields.append("Content-Type", type)
        }
    }
}

extension SessionRequest {
    /// Puts parameters into the query, or returns a body made from them.
    fileprivate mutating func serialize(
        _ pairs: [FetchBody.Pair], _ format: FetchPlan.Serialization
    ) throws(SerializationError) -> [UInt8]? {
        let serializer: any RequestSerializer =
            switch format {
            case .http, .multipart: HTTPRequestSerializer()
            case .json: JSONRequestSerializer()
            case .plist: PropertyListRequestSerializer()
            }
        let target = RequestTarget.absolute(
            scheme: self.url.scheme, authority: self.url.authority, path: self.url.path)
        let serialized = try serializer.serialize(
            RequestHead(method: self.method, target: target, fields: self.fields),
            parameters: format == .http ? .repeating(pairs) : .grouping(pairs))
        self.fields = serialized.head.fields
        if let path = serialized.head.target.path, path != self.url.path {
            do throws(HTTPURLError) {
                self.url = try HTTPURL("\(self.url.description.dropLast(self.url.path.count))\(path)")
            } catch {
                throw SerializationError(.unserializable, error.message)
            }
        }
        return serialized.body
    }
}

extension Parameter {
    /// Returns a dictionary in which a repeated name occurs repeatedly, as in a query.
    fileprivate static func repeating(_ pairs: [FetchBody.Pair]) -> Parameter {
        .dictionary(pairs.map { Entry($0.name, .string($0.text)) })
    }

    /// Returns a dictionary in which a repeated name has a list of values, as in a document.
    fileprivate static func grouping(_ pairs: [FetchBody.Pair]) -> Parameter {
        var entries: [Entry] = []
        for pair in pairs {
            let value = Parameter.string(pair.text)
            guard let index = entries.firstIndex(where: { $0.key == pair.name }) else {
                entries.append(Entry(pair.name, value))
                continue
            }
            if case .array(let values) = entries[index].value {
                entries[index].value = .array(values + [value])
            } else {
                entries[index].value = .array([entries[index].value, value])
            }
        }
        return .dictionary(entries)
    }
}
