// SPDX-License-Identifier: Apache-2.0

/// Rules that the responses of a route must keep to.
package struct ResponseRules: Sendable, Equatable {
    /// The required kind of body.
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
        /// A body that one of these accepts; the first that does decides. None of them is compound itself.
        case compound([Body])
    }

    /// Requirements for a JSON document.
    package struct JSONRules: Sendable, Equatable {
        /// True if the whole document may be a string, a number, a boolean or null. Default false.
        package var fragments = false
        /// The file of a JSON Schema that the document must satisfy.
        package var schema: Located<String>?

        package init() {}
    }

    /// Requirements for an image.
    package struct ImageRules: Sendable, Equatable {
        /// The most pixels: width times height. Default 64 Mi, which is 8192 × 8192.
        package var pixels = 64 << 20

        package init() {}
    }

    /// The treatment of a response that breaks the rules.
    package enum OnViolation: String, Sendable, CaseIterable {
        /// The client gets a problem document instead.
        case reject
        /// The response passes; the violation is marked and logged.
        case report
        /// The client gets the route's placeholder file instead.
        case placeholder
    }

    /// A way in which an origin fails to answer, named like the type of its problem.
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
        /// The bytes of the file, read when the configuration is loaded.
        package var body: [UInt8]
        /// The media type, from the extension of the file's name.
        package var mediaType: String
        /// The status that is sent with the file. Default 200.
        package var status: UInt16 = 200
        /// The failures of the origin for which it is sent. Default: all.
        package var failures = Set(OriginFailure.allCases)

        package init(body: [UInt8], mediaType: String) {
            self.body = body
            self.mediaType = mediaType
        }
    }

    /// Fields that are removed and injected, in every response. Default none.
    package var headers = HeaderRules()
    /// Acceptable statuses, each 100…599. Default empty: all.
    package var status: [ClosedRange<UInt16>] = []
    /// Acceptable media types, in lower case and without parameters; nil if the file does not list any.
    package var contentTypes: [String]?
    /// True if `application/problem+json` is accepted as `application/json`, and `+xml` as `application/xml`. Default false.
    package var structuredSuffixes = false
    /// The required kind of body. Default `any`.
    package var body: Body = .any
    /// True if members that are null are removed from JSON objects. Default false; needs a JSON body.
    package var removeNulls = false
    /// The treatment of a response that breaks the rules. Default `reject`.
    package var onViolation: OnViolation = .reject
    /// The file for clients in place of such a response. Default nil: clients get a problem document.
    package var placeholder: Placeholder?
    /// Time for which the client waits for the head of a response before it gets the placeholder; nil for no limit. Default
    /// nil. The transfer continues into the cache if the route has one.
    package var placeholderAfter: Duration?
    /// The longest body in bytes, counted before decoding. Default nil: any length.
    package var maxBody: Int?

    package init() {}

    /// The treatment of a violation. If the whole configuration only reports, so does every route.
    package func onViolation(under enforcement: Enforcement) -> OnViolation {
        enforcement == .report ? .report : self.onViolation
    }

    /// True if status, media type and body may be anything.
    package var acceptsAnything: Bool { self.status.isEmpty && self.contentTypes == nil && self.body == .any }
}
