// SPDX-License-Identifier: Apache-2.0

package import PintleMessage
package import PintleSerialization
package import PintleSession

/// Changes to the requests of a route, and settings for their transfer.
package struct RequestRules: Sendable, Equatable {
    /// The form in which parameters are written.
    package enum Serialization: String, Sendable, CaseIterable {
        /// Parameters are not added; the body passes unchanged.
        case none
        /// Into the query for `uriMethods`, else as a form.
        case http
        /// Into the query for `uriMethods`, else as JSON.
        case json
        /// Into the query for `uriMethods`, else as a property list.
        case plist
        /// Into the query for `uriMethods`, else as `multipart/form-data`.
        case multipart
    }

    /// The pace of a body: packets of one size, with a pause after each.
    package struct Throttle: Sendable, Equatable {
        /// Packet size in bytes. Default 16 KiB; packet and delay are AFNetworking's suggestion for a slow mobile network.
        package var packet = 16 << 10
        /// The pause after each packet. Default 200 ms.
        package var delay: Duration = .milliseconds(200)

        package init() {}
    }

    /// The attempts after a failure, as long as no byte of a response has come.
    package struct Retries: Sendable, Equatable {
        /// A failure after which a request is tried again.
        package enum Occasion: String, Sendable, CaseIterable {
            /// No connection could be made.
            case connectFailure = "connect_failure"
            /// A kept connection turned out to be closed.
            case staleConnection = "stale_connection"
        }

        /// The most further attempts. Default 1.
        package var attempts = 1
        /// The failures after which a request is tried again. Default: a kept connection that turned out to be closed, which
        /// every client must expect (RFC 9112 §9.3.1).
        package var occasions: Set<Occasion> = [.staleConnection]

        package init() {}

        /// These settings in the form that a transfer takes.
        package var forTransfers: TransferRetries {
            var retries = TransferRetries()
            retries.limit = self.attempts
            retries.onConnectFailure = self.occasions.contains(.connectFailure)
            retries.onStaleConnection = self.occasions.contains(.staleConnection)
            return retries
        }
    }

    /// The treatment of cookies between clients and origins.
    package enum Cookies: String, Sendable, CaseIterable {
        /// They pass like any other field.
        case pass
        /// The route stores its origins' cookies for all of its clients; clients neither send nor receive any.
        case jar
        /// Cookies are removed in both directions.
        case block
    }

    /// Fields that are removed and injected.
    package var headers = HeaderRules()
    /// The value of an Authorization field, added to requests that have none after `headers` was applied.
    package var authorization: Located<String>?
    /// Parameters that are added, in the order of the file. Default none.
    package var parameters: [NamedParameter] = []
    /// The form in which parameters are written. Default `none`.
    package var serialize: Serialization = .none
    /// Methods that carry parameters in the query. Default GET, HEAD and DELETE, as in AFNetworking.
    package var uriMethods = ["GET", "HEAD", "DELETE"]
    /// The encoding of forms and of the text in multipart bodies. Default UTF-8.
    package var stringEncoding = TextEncoding.utf8
    /// Options for writing JSON. Default: members in their order, no white space.
    package var json: JSONWriter.Options = []
    /// The format of property lists. Default XML.
    package var plist = PropertyListWriter.Format.xml
    /// Keys of the file that `serialize` ignores, such as `json` with `serialize: plist`. Default none.
    package var unreadKeys: [Located<String>] = []
    /// The pace of bodies. Default nil: as fast as they come.
    package var throttle: Throttle?
    /// The longest silence from upstream, before its response and within it. Default nil: the times of ``Silence``.
    package var timeout: Duration?
    /// The time for name lookup, connection and handshake together. Default 10 s.
    package var connectTimeout: Duration = .seconds(10)
    /// The attempts after a failure. Default: one, after a kept connection that turned out to be closed.
    package var retries = Retries()
    /// The treatment of cookies between clients and origins. Default `pass`.
    package var cookies = Cookies.pass
    /// The fields that tell the origin about the client. Default none.
    package var forwarded = ForwardedRules()
    /// The service class that marks the packets of the route's connections. Default: unmarked.
    package var serviceType = ServiceType.default
    /// The network interface for the route's connections. Default nil: the system's routing chooses.
    package var interface: String?

    package init() {}

    /// The serializer for the parameters; nil if the body passes unchanged.
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
        /// The place of the name in the file.
        package var position: SourcePosition

        package init(name: String, value: String, position: SourcePosition) {
            self.name = name
            self.value = value
            self.position = position
        }
    }

    /// Names that are removed.
    package var remove: [String] = []
    /// Lines that are added if the message then has no such field.
    package var defaults: [Line] = []
    /// Lines that replace all fields of their name.
    package var set: [Line] = []
    /// Lines that are added to the fields that are there.
    package var add: [Line] = []

    package init() {}

    /// True if there is nothing to do.
    package var isEmpty: Bool {
        self.remove.isEmpty && self.defaults.isEmpty && self.set.isEmpty && self.add.isEmpty
    }

    /// Removes from a trailer section every field that a rule names. Otherwise a recipient that merges trailers into the
    /// header would get back the fields that were removed or set (RFC 9110 §6.5.1).
    package func apply(toTrailers fields: inout Fields) {
        guard !fields.isEmpty else { return }
        for name in self.remove { fields.remove(name) }
        for line in self.defaults + self.set + self.add { fields.remove(line.name) }
    }

    /// Applies the rules to the fields of a head. `injecting` may add further fields right after the defaults.
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

/// The value of a parameter: the types that YAML and JSON have in common.
package indirect enum ParameterValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int)
    case double(Double)
    case string(String)
    case list([ParameterValue])
    /// Members in the order of the file.
    case map([NamedParameter])
}
