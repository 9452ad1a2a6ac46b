// SPDX-License-Identifier: Apache-2.0

package import PintleMessage
package import PintleSession

/// What happens to the requests of a route.
package struct RequestRules: Sendable, Equatable {
    /// How parameters are written.
    package enum Serialization: String, Sendable, CaseIterable {
        /// Parameters are not added; the body passes.
        case none
        /// Into the query or as a form, by `uriMethods`.
        case http
        /// Into the query by `uriMethods`, else as JSON.
        case json
        /// Into the query by `uriMethods`, else as a property list.
        case plist
        /// Into the query by `uriMethods`, else as `multipart/form-data`.
        case multipart
    }

    /// The pace of a body: packets of a size, and a rest after each.
    package struct Throttle: Sendable, Equatable {
        /// In bytes. Default 16 KiB, AFNetworking's proposal for a slow mobile network, as is the delay.
        package var packet = 16 << 10
        /// Default 200 ms.
        package var delay: Duration = .milliseconds(200)

        package init() {}
    }

    /// The attempts that follow a failure before any byte of a response has come.
    package struct Retries: Sendable, Equatable {
        /// An occasion on which it is.
        package enum Occasion: String, Sendable, CaseIterable {
            /// No connection could be made.
            case connectFailure = "connect_failure"
            /// A kept connection turned out to be closed.
            case staleConnection = "stale_connection"
        }

        /// The most times. Default 1.
        package var attempts = 1
        /// Default a kept connection that turned out to be closed: RFC 9112 §9.3.1 has it happen to everybody.
        package var occasions: Set<Occasion> = [.staleConnection]

        package init() {}

        /// The same for a transfer.
        package var forTransfers: TransferRetries {
            var retries = TransferRetries()
            retries.limit = self.attempts
            retries.onConnectFailure = self.occasions.contains(.connectFailure)
            retries.onStaleConnection = self.occasions.contains(.staleConnection)
            return retries
        }
    }

    /// The way of cookies between clients and origins.
    package enum Cookies: String, Sendable, CaseIterable {
        /// They pass like any other field.
        case pass
        /// The route keeps those of its origins, for all of its clients; none comes from a client, and none goes to one.
        case jar
        /// None passes, either way.
        case block
    }

    /// Fields that are removed and injected.
    package var headers = HeaderRules()
    /// The value of an Authorization for requests that then have none.
    package var authorization: Located<String>?
    /// Parameters that are added, in the order of the file. Default none.
    package var parameters: [NamedParameter] = []
    /// Default `none`.
    package var serialize: Serialization = .none
    /// Methods whose parameters go into the query. Default GET, HEAD and DELETE, AFNetworking's.
    package var uriMethods = ["GET", "HEAD", "DELETE"]
    /// Of forms and of the text in multipart bodies. Default UTF-8.
    package var stringEncoding = TextEncoding.utf8
    /// How JSON is written. Default in the order of the members, without white space.
    package var json: JSONWriter.Options = []
    /// How property lists are written. Default XML.
    package var plist = PropertyListWriter.Format.xml
    /// Keys of the file that `serialize` does not read: `json` beside `plist`. Default none.
    package var unreadKeys: [Located<String>] = []
    /// The pace of bodies. Default as fast as they come.
    package var throttle: Throttle?
    /// Longest silence from upstream, before its answer and within it. Default nil: ``Silence``.
    package var timeout: Duration?
    /// For name, connection and handshake together. Default 10 s.
    package var connectTimeout: Duration = .seconds(10)
    /// The attempts that follow a failure. Default one, where a kept connection turned out to be closed.
    package var retries = Retries()
    /// Default `pass`.
    package var cookies = Cookies.pass
    /// How the packets of its connections are marked. Default not at all.
    package var serviceType = ServiceType.default
    /// The network interface that its connections leave by. Default by the system's routes.
    package var interface: String?

    package init() {}

    /// What writes the parameters; nil where the body passes.
    package var serializer: (any RequestSerializer)? {
        var http = HTTPRequestSerializer()
        http.uriMethods = Set(self.uriMethods)
        http.stringEncoding = self.stringEncoding
        switch self.serialize {
        case .none: return nil
        case .http: return http
        case .json: return JSONRequestSerializer(http: http, writingOptions: self.json)
        case .plist: return PropertyListRequestSerializer(http: http, format: self.plist)
        case .multipart: return MultipartRequestSerializer(http: http)
        }
    }
}

/// Fields that are removed and injected, in this order: remove, default, set, add.
package struct HeaderRules: Sendable, Equatable {
    /// One field line.
    package struct Line: Sendable, Equatable {
        package var name: String
        package var value: String
        /// Where the file has the name.
        package var position: SourcePosition

        package init(name: String, value: String, position: SourcePosition) {
            self.name = name
            self.value = value
            self.position = position
        }
    }

    /// Names that are removed.
    package var remove: [String] = []
    /// Added where the message then has no such field.
    package var defaults: [Line] = []
    /// Replace all fields of their name.
    package var set: [Line] = []
    /// Added beside what there is.
    package var add: [Line] = []

    package init() {}

    /// Whether there is nothing to do.
    package var isEmpty: Bool {
        self.remove.isEmpty && self.defaults.isEmpty && self.set.isEmpty && self.add.isEmpty
    }

    /// Removes from a trailer section every field that a rule names: who reads trailers as fields of the head would get there
    /// what was removed or set (RFC 9110 §6.5.1).
    package func apply(toTrailers fields: inout Fields) {
        guard !fields.isEmpty else { return }
        for name in self.remove { fields.remove(name) }
        for line in self.defaults + self.set + self.add { fields.remove(line.name) }
    }

    /// Does it. `injecting` is for what comes with the defaults.
    package func apply(to fields: inout Fields, injecting: (inout Fields) -> Void = { _ in }) {
        for name in self.remove { fields.remove(name) }
        for line in self.defaults where !fields.contains(line.name) { fields.append(line.name, line.value) }
        injecting(&fields)
        for line in self.set { fields.set(line.name, line.value) }
        for line in self.add { fields.append(line.name, line.value) }
    }
}

/// A parameter of a request, as the file has it.
package struct NamedParameter: Sendable, Equatable {
    package var name: String
    package var value: ParameterValue

    package init(name: String, value: ParameterValue) {
        self.name = name
        self.value = value
    }
}

/// The value of a parameter: what YAML and JSON have in common.
package indirect enum ParameterValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int)
    case double(Double)
    case string(String)
    case list([ParameterValue])
    /// In the order of the file.
    case map([NamedParameter])
}
