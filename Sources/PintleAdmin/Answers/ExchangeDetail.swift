// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleMessage
internal import PintlePolicy
internal import PintleProxy
internal import PintleSerialization
internal import PintleTrust
internal import PintleWatch

/// Everything that is known about one exchange. The reasons are those of the configuration in force.
struct ExchangeDetail {
    let text: [UInt8]

    init(_ exchange: ObservedExchange, _ program: any AdminProgram) {
        let redaction = program.redaction
        let shown = exchange.shown(redaction)
        let head = RequestHead(
            method: shown.record.method ?? "", target: exchange.target, fields: exchange.requestFields)
        // Bytes that were not a request have no reasons.
        let reasons =
            head.method.isEmpty ? [] : ExplanationAnswer(program).members(head, of: ProxyIdentity(exchange.record))
        self.text = JSONText.object(
            [
                ("record", JSONText.record(shown)),
                ("request", Self.message(exchange.requestFields, shown.bodies?.request, redaction)),
                ("response", Self.message(exchange.responseFields, shown.bodies?.response, redaction)),
                ("websocket", JSONText.value(.bool(shown.isWebSocket))),
                ("messages", shown.isWebSocket ? shown.bodies.map { JSONText.value(Self.messages($0.messages)) } : nil),
                ("certificates", exchange.verdict.map { JSONText.value(Self.chain($0)) }),
                ("trust", exchange.verdict.map { JSONText.value(Self.trust($0, shown.record.trust)) }),
                ("violations", JSONText.value(Self.violations(shown.record))),
            ] + reasons.map { ($0.0, $0.1.map(JSONText.value)) })
    }

    private static func message(_ fields: Fields, _ body: ShownBody?, _ redaction: Redaction) -> [UInt8] {
        JSONText.value(
            .object([("fields", FieldsAnswer(fields, redaction).parameter), ("body", body.map(Self.body))]))
    }

    private static func body(_ body: ShownBody) -> Parameter {
        .object(
            [("size", .integer(Int64(body.size))), ("truncated", .bool(!body.isWhole))]
                + Self.content(body.text, base64: body.base64))
    }

    private static func messages(_ messages: [ShownMessage]) -> Parameter {
        .array(
            messages.map { message in
                .object(
                    [
                        ("time", .string(message.time.description)),
                        ("from", message.isFromClient ? "client" : "origin"),
                        ("opcode", .integer(Int64(message.kind.rawValue))),
                        ("truncated", .bool(!message.isWhole)),
                    ] + Self.content(message.text, base64: message.base64))
            })
    }

    /// Text, or else bytes in base64.
    private static func content(
        _ text: String?, base64: @autoclosure () -> String
    ) -> [(String, Parameter?)] {
        [text.map { ("text", .string($0)) } ?? ("base64", .string(base64()))]
    }

    private static func chain(_ verdict: Verdict) -> Parameter {
        let now = UnixTime.now.seconds
        return .array(
            verdict.chain.map { entry in
                .object([
                    ("subject", .string(entry.subject)), ("issuer", .string(entry.issuer)),
                    ("pin", .string(entry.spkiPin.description)),
                    ("not_before", .string(entry.certificate.notBefore.description)),
                    ("not_after", .string(entry.notAfter.description)),
                    ("days_left", .integer((entry.notAfter.seconds - now) / 86_400)),
                    ("matched", .bool(entry.spkiPin == verdict.matchedPin)),
                    ("position", .string(entry.position.rawValue)),
                ])
            })
    }

    private static func trust(_ verdict: Verdict, _ name: String?) -> Parameter {
        .object([
            ("name", .string(name ?? "system")), ("outcome", .string(verdict.isTrusted ? "trusted" : "refused")),
            ("error", (verdict.error ?? verdict.reported).map { .string($0.message) }),
            ("until", verdict.end.map { .string($0.description) }),
        ])
    }

    /// The message is that of the first one: a record has one.
    private static func violations(_ record: ExchangeRecord) -> Parameter {
        .array(
            record.violations.enumerated().map { place, kind in
                .object([
                    ("kind", .string(kind.rawValue)), ("message", place == 0 ? record.error.map { .string($0) } : nil),
                ])
            })
    }
}
