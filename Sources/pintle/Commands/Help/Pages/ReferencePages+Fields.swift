// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleCache

extension ReferencePages {
    static var fields: ReferencePage {
        ReferencePage(
            topic: .fields,
            introduction: [
                "Each exchange and each tunnel is one line of the exchange log (`log.exchanges`), of `pintle tail`, and a "
                    + "record of `/api/exchanges`. Fields that do not apply are left out. With `log.format: json` numbers and "
                    + "booleans are written as such; in text a value of more than one plain word is in quotation marks.",
                "Query values, credentials, cookies and fields that a route adds are masked unless `log.redact` is `off`.",
            ],
            sections: [
                .init(
                    kind: "field",
                    entries: ExchangeField.allCases.map { .init($0.rawValue, [("type", $0.type)], $0.meaning) })
            ], more: ["configuration.md", "filters.md"])
    }
}

extension ExchangeField {
    fileprivate var type: String {
        switch self {
        case .time: "time, UTC"
        case .pid, .status, .upstreamStatus, .bytesIn, .bytesOut, .retries, .redirects: "number"
        case .duration, .connect, .tlsHandshake, .firstByte: "milliseconds"
        case .captured, .reused: "boolean"
        case .form, .chain, .credentials, .violations: "list"
        case .id, .client, .user, .tag, .process, .mode, .method, .url, .host, .address, .route, .rule, .decision,
            .revision, .trust, .pin, .assurance, .tls, .http, .cache, .source, .error:
            "text"
        }
    }

    fileprivate var meaning: String {
        switch self {
        case .time: "The time at which the exchange began."
        case .id: "The exchange's id. Problems have it as `instance`, and `pintle tail '~id ID'` finds it."
        case .client: "The client's address; `unix:UID` for a client of a Unix socket."
        case .user: "The user of `clients.basic_auth` that the client has proved to be."
        case .tag:
            "The word after `+` in the client's proxy user name, or the whole name if the configuration has no users."
        case .process: "The name of the client's process, if it runs on this machine and can be seen."
        case .pid: "The number of that process."
        case .mode:
            "The use of the proxy: `forward`, `gateway` (a path without a host), `tunnel` (CONNECT), or `intercept` (inside an "
                + "intercepted tunnel)."
        case .captured: "True if the client has not asked the proxy: its connection was captured."
        case .method: "The request's method."
        case .url: "The requested URL. Values of the query are masked."
        case .host: "The host and the port that were asked for."
        case .address: "The address of the origin, or of the upstream proxy, that was connected to."
        case .route: "The route that matched."
        case .rule: "The rule that decided, as in `destinations.deny[0] \"*.ads.example\"`."
        case .decision:
            "`allow`; `would-deny` if a rule that only reports would have denied it; `deny` if the request was refused; "
                + "`reject` if the origin or its response was; `error` for other failures."
        case .revision:
            "The configuration that the exchange was treated by: 16 digits of a SHA-256 of its files, or `embedded`."
        case .trust: "The trust policy that applied to the origin."
        case .pin: "The pin that matched. If none did, the pin of the leaf's key."
        case .form: "The rules of form that the origin's chain breaks; `pintle help findings` has them."
        case .chain: "The pins of all keys of the chain, leaf first, if no pin matched."
        case .assurance:
            "Of a tunnel that is not intercepted: `probed` if the destination proved itself before it opened, `observed` if "
                + "the client's own handshake showed it, too."
        case .status: "The status for the client."
        case .upstreamStatus: "The status that the origin sent."
        case .bytesIn: "Bytes of the body, or of the tunnel, from the client."
        case .bytesOut: "Bytes of the body, or of the tunnel, to the client."
        case .duration: "The time from the first byte of the request to the end."
        case .connect: "The time until the connection to the origin was made; missing if one was used again."
        case .tlsHandshake: "The time until the TLS handshake with the origin was complete."
        case .firstByte: "The time until the first byte of the response."
        case .tls: "The version of TLS with the origin."
        case .http: "The version of HTTP with the origin."
        case .reused: "True if the connection to the origin had been used before."
        case .retries: "Times that the request was sent again, or another connection was tried for it."
        case .redirects: "Redirects that the proxy followed."
        case .cache:
            "The part of the cache in the response: "
                + CacheOutcome.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ") + "."
        case .source:
            "The part that gave the response: "
                + ExchangeRecord.Source.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ") + "."
        case .credentials: "The names of the credentials that the request has got."
        case .violations: "The kinds of violations, refused or reported; `pintle help problems` has them."
        case .error: "The reason why there was no proper response, in a sentence."
        }
    }
}
