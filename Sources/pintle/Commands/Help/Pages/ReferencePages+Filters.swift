// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy

extension ReferencePages {
    static var filters: ReferencePage {
        ReferencePage(
            topic: .filters,
            introduction: [
                "A filter chooses exchanges: for `pintle tail` and `pintle top`, for reports of `pintle run` (`json@FILTER=FILE`), "
                    + "for `capture.when`, on the page and at `/api/exchanges?filter=`. `&`, or nothing, joins terms that must "
                    + "both hold, `|` terms of which one must, `!` turns the next one round, and parentheses group. Text without "
                    + "an operator is looked for in the URL.",
                "TEXT is found anywhere, WORD is the whole value; letter case does not matter. Both may be a regular expression "
                    + "between slashes, as in `~d /^(api|pay)\\./`.",
                "Example: `pintle tail '~d api.example (~c 5xx | ~slow 2s)'`",
            ],
            sections: [
                .init(
                    kind: "operator",
                    entries: FilterOperator.allCases.map { one in
                        .init("~\(one.rawValue)", [("argument", one.argument.words)], one.meaning)
                    })
            ], more: ["filters.md"])
    }
}

extension FilterOperator.Argument {
    fileprivate var words: String? {
        switch self {
        case .none: nil
        case .part: "TEXT"
        case .whole: "WORD"
        case .word(let words): words.joined(separator: ", ")
        case .statuses: "404, 500-599, 5xx"
        case .duration: "250ms, 2s"
        case .size: "64KiB, 1MiB"
        }
    }
}

extension FilterOperator {
    fileprivate var meaning: String {
        switch self {
        case .host: "Exchanges whose host and port have the text in them."
        case .method: "With the method."
        case .url: "Whose URL has the text in it."
        case .status: "With the status for the client."
        case .fields: "With a header field of request or response, as `Name: value`, that has the text in it."
        case .requestFields: "With such a field of the request."
        case .responseFields: "With such a field of the origin's response."
        case .types: "Whose Content-Type, of request or response, has the text in it."
        case .requestTypes: "Whose request has such a Content-Type."
        case .responseTypes: "Whose response has such a Content-Type."
        case .bodies: "With a body, or a message of a WebSocket, that has the text in it, if it was kept (`capture`)."
        case .requestBody: "With such a body or message of the client."
        case .responseBody: "With such a body or message for the client."
        case .failed: "With an error."
        case .unanswered: "Without a response."
        case .answered: "With a response."
        case .webSocket: "That became WebSockets."
        case .route: "Of the route."
        case .rule: "Whose deciding rule has the text in its name."
        case .violation: "With a violation of the kind."
        case .denied: "That were refused, or whose origin or response was."
        case .wouldBeDenied: "That a rule in report mode would have denied."
        case .trust: "Under the trust policy."
        case .pin: "With this verdict of pins."
        case .assurance: "Of tunnels whose destination proved itself in this way."
        case .user: "Of the user."
        case .tag: "With the tag."
        case .process: "Of the process with the name or the number, on this machine."
        case .revision: "Treated by the configuration with the revision."
        case .cache: "With this part of the cache in the response."
        case .source: "Answered by this part."
        case .slow: "That took at least so long."
        case .big: "Whose bodies have at least so many bytes together."
        case .id: "With the id."
        }
    }
}
