// SPDX-License-Identifier: Apache-2.0

/// What the responses of a route must keep to.
package struct ResponseRules: Sendable, Equatable {
    /// What a body must be.
    package enum Body: Sendable, Equatable {
        /// Anything; it streams through.
        case any
        /// A JSON document.
        case json(JSONRules)
        /// A well-formed XML document.
        case xml
        /// A property list, in XML or binary.
        case plist
        /// An image that can be decoded.
        case image(ImageRules)
        /// What the first of several that takes it says; none of them is compound.
        case compound([Body])
    }

    /// What a JSON document must be.
    package struct JSONRules: Sendable, Equatable {
        /// Whether strings, numbers, truth values and null may stand alone. Default false.
        package var fragments = false
        /// The file of a JSON Schema that it must satisfy.
        package var schema: Located<String>?

        package init() {}
    }

    /// What an image must be.
    package struct ImageRules: Sendable, Equatable {
        /// Width times height. Default 64 Mi, which is 8192 × 8192.
        package var pixels = 64 << 20

        package init() {}
    }

    /// What happens to a response that breaks the rules.
    package enum OnViolation: String, Sendable, CaseIterable {
        /// The client gets a problem instead.
        case reject
        /// The response passes, marked and logged.
        case report
        /// The client gets a file of the proxy's instead.
        case placeholder
    }

    /// A way in which an origin fails to answer; its names are those of the problems.
    package enum OriginFailure: String, Sendable, CaseIterable {
        case dnsFailure = "dns-failure"
        case connectFailure = "connect-failure"
        case connectTimeout = "connect-timeout"
        case networkUnreachable = "network-unreachable"
        case tlsFailure = "tls-failure"
        case certificateInvalid = "certificate-invalid"
        case pinMismatch = "pin-mismatch"
        case upstreamTimeout = "upstream-timeout"
        case upstreamProtocol = "upstream-protocol"
    }

    /// A file that clients get in place of a response that breaks the rules, is late or does not come.
    package struct Placeholder: Sendable, Equatable {
        /// Its bytes; read when the configuration is loaded.
        package var body: [UInt8]
        /// By the extension of the file's name.
        package var mediaType: String
        /// Default 200.
        package var status: UInt16 = 200
        /// The failures of the origin that it stands for. Default: all.
        package var failures = Set(OriginFailure.allCases)

        package init(body: [UInt8], mediaType: String) {
            self.body = body
            self.mediaType = mediaType
        }
    }

    /// Fields that are removed and injected, whatever the response is. Default none.
    package var headers = HeaderRules()
    /// Acceptable statuses, each 100…599. Default empty: all.
    package var status: [ClosedRange<UInt16>] = []
    /// Acceptable media types, in lower case and without parameters; nil when not given.
    package var contentTypes: [String]?
    /// Whether `application/problem+json` is as good as `application/json`, and `+xml` as `application/xml`. Default
    /// false.
    package var structuredSuffixes = false
    /// Default `any`.
    package var body: Body = .any
    /// Whether members that are null are removed from JSON objects. Default false; needs a JSON body.
    package var removeNulls = false
    /// Default `reject`.
    package var onViolation: OnViolation = .reject
    /// Default nil: clients are told what is wrong.
    package var placeholder: Placeholder?
    /// How long the client waits for the head of a response before it gets the placeholder; nil for as long as it takes.
    /// Default nil. The response goes on into the cache where the route has one.
    package var placeholderAfter: Duration?
    /// The longest body in bytes, as it comes over the wire. Default nil: any length.
    package var maxBody: Int?

    package init() {}

    /// What happens to a violation: where the whole configuration only reports, so does every route.
    package func onViolation(under enforcement: Enforcement) -> OnViolation {
        enforcement == .report ? .report : self.onViolation
    }

    /// Whether status, type and body may be anything.
    package var acceptsAnything: Bool { self.status.isEmpty && self.contentTypes == nil && self.body == .any }
}
