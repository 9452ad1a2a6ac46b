// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity

/// An operator of filters, with the name that follows `~`. Where both have one, the letters are mitmproxy's.
package enum FilterOperator: String, CaseIterable, Sendable {
    case host = "d"
    case method = "m"
    case url = "u"
    case status = "c"
    case fields = "h"
    case requestFields = "hq"
    case responseFields = "hs"
    case types = "t"
    case requestTypes = "tq"
    case responseTypes = "ts"
    case bodies = "b"
    case requestBody = "bq"
    case responseBody = "bs"
    case failed = "e"
    case unanswered = "q"
    case answered = "s"
    case webSocket = "websocket"
    case route
    case rule
    case violation = "v"
    case denied = "deny"
    case wouldBeDenied = "would"
    case trust
    case pin
    case assurance = "as"
    case user
    case tag
    case process = "proc"
    case revision = "rev"
    case cache
    case source = "from"
    case slow
    case big
    case id

    /// The form of an operator's argument.
    package enum Argument {
        case none
        /// Text that is in the value, or a regular expression.
        case part
        /// Text that is the value, or a regular expression.
        case whole
        /// One of some words.
        case word([String])
        case statuses
        case duration
        case size
    }

    package var argument: Argument {
        switch self {
        case .failed, .unanswered, .answered, .webSocket, .denied, .wouldBeDenied: .none
        case .host, .url, .fields, .requestFields, .responseFields, .types, .requestTypes, .responseTypes, .rule,
            .bodies,
            .requestBody, .responseBody:
            .part
        case .method, .route, .trust, .user, .tag, .process, .revision, .id: .whole
        case .status: .statuses
        case .violation: .word(ViolationKind.allCases.map(\.rawValue))
        case .pin: .word(ShownExchange.Pin.allCases.map(\.rawValue))
        case .assurance: .word(["probed", "observed"])
        case .cache: .word(["hit", "stale", "validated", "merged", "miss", "bypass"])
        case .source: .word(ExchangeRecord.Source.allCases.map(\.rawValue))
        case .slow: .duration
        case .big: .size
        }
    }
}

/// An operator with its argument.
enum FilterTerm: Sendable {
    case flag(FilterOperator)
    case text(FilterOperator, TextTest)
    case statuses(ClosedRange<UInt16>)
    case slow(Duration)
    case big(Int)

    func holds(for exchange: ShownExchange) -> Bool {
        let record = exchange.record
        switch self {
        case .flag(.failed): return record.error != nil
        case .flag(.unanswered): return record.status == nil
        case .flag(.answered): return record.status != nil
        case .flag(.webSocket): return exchange.isWebSocket
        case .flag(.denied): return ["deny", "reject"].contains(record.decision)
        case .flag(.wouldBeDenied): return record.decision == "would-deny"
        case .flag(let other): preconditionFailure("BUG: ~\(other.rawValue) has an argument")
        case .text(let name, let test): return exchange.values(of: name).contains(where: test.holds)
        case .statuses(let range): return record.status.map { range.contains(UInt16(clamping: $0)) } ?? false
        case .slow(let least): return record.duration.map { $0 >= least } ?? false
        case .big(let least): return (record.bytesIn ?? 0) + (record.bytesOut ?? 0) >= least
        }
    }
}

extension ShownExchange {
    /// The texts that an operator with a text as its argument reads.
    fileprivate func values(of name: FilterOperator) -> [String] {
        func one(_ value: String?) -> [String] { value.map { [$0] } ?? [] }
        switch name {
        case .host: return one(self.record.host)
        case .method: return one(self.record.method)
        case .url: return one(self.record.url)
        case .fields: return self.requestFields.lines + self.responseFields.lines
        case .requestFields: return self.requestFields.lines
        case .responseFields: return self.responseFields.lines
        case .types: return self.requestFields.types + self.responseFields.types
        case .requestTypes: return self.requestFields.types
        case .responseTypes: return self.responseFields.types
        case .bodies: return self.texts(fromClient: true) + self.texts(fromClient: false)
        case .requestBody: return self.texts(fromClient: true)
        case .responseBody: return self.texts(fromClient: false)
        case .route: return one(self.record.route)
        case .rule: return one(self.record.rule)
        case .violation: return self.record.violations.map(\.rawValue)
        case .trust: return one(self.record.trust)
        case .pin: return [self.pin.rawValue]
        case .assurance: return one(self.record.assurance)
        case .user: return one(self.record.user)
        case .tag: return one(self.record.tag)
        case .process: return self.record.process.map { [$0.name, "\($0.number)"] } ?? []
        case .revision: return one(self.record.revision)
        case .cache: return one(self.record.cache)
        case .source: return one(self.record.source?.rawValue)
        case .id: return [self.record.id]
        case .status, .failed, .unanswered, .answered, .webSocket, .denied, .wouldBeDenied, .slow, .big:
            preconditionFailure("BUG: ~\(name.rawValue) reads no text")
        }
    }

    /// The kept body of one direction and the messages of a WebSocket, as far as they are text.
    private func texts(fromClient isFromClient: Bool) -> [String] {
        guard let bodies = self.bodies else { return [] }
        let body = isFromClient ? bodies.request : bodies.response
        let messages = self.isWebSocket ? bodies.messages.filter { $0.isFromClient == isFromClient } : []
        return [body?.text].compactMap { $0 } + messages.compactMap(\.text)
    }
}
