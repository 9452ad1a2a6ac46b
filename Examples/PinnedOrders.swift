// SPDX-License-Identifier: Apache-2.0

import Pintle

/// An order as the API takes it.
struct NewOrder: Encodable, Sendable {
    let item: String
    let count: Int
}

/// An order as the API describes it.
struct Order: Decodable, Sendable {
    let id: Int
    let item: String
    let state: String
}

/// Places an order with a JSON API that must show a pinned key, and reads it back.
///
/// The API has `POST orders` and `GET orders/ID` below `base`.
func placeOrder(at base: String, roots: SecurityPolicy.Roots, pins: [Pin]) async throws {
    let policy = try SecurityPolicy(pinning: .publicKey, pins: Set(pins), roots: roots)
    let api = try HTTPSession(base: base, policy: policy)
    do {
        let placed = try await api.post("orders", json: NewOrder(item: "hinge", count: 2), as: Order.self)
        let order = try await api.get("orders/\(placed.id)", as: Order.self)
        print("order \(order.id): \(order.item), \(order.state)")
    } catch {
        explain(error)
        throw error
    }
}

/// Says what can be done about a failure.
private func explain(_ error: SessionError) {
    switch error.code {
    case .untrusted:
        guard let verdict = error.verdict else { return }
        for entry in verdict.chain { print("peer:   \(entry.subject) \(entry.spkiPin)") }
        for pin in verdict.configuredPins { print("pinned: \(pin)") }
    case .rejected:
        guard let response = error.underlying as? RejectedResponse else { return }
        print("status \(response.head.status): \(String(decoding: response.body, as: UTF8.self))")
    case .timeout, .connectTimeout, .connectionBroken, .networkUnreachable:
        print("this may go better later")
    default: return
    }
}
