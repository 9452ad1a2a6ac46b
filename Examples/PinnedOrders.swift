// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSession
import PintleTrust

/// What the API says of an order.
struct Order: Decodable, Sendable {
    let id: Int
    let item: String
    let state: String
}

/// Places an order with a JSON API that must show a pinned key, and reads it back.
///
/// The API has `POST orders` and `GET orders/ID` below `base`.
func placeOrder(at base: String, roots: SecurityPolicy.Roots, pins: [Pin]) async throws {
    let engine = try Engine(threads: 1)
    let policy = try SecurityPolicy(pinning: .publicKey, pins: Set(pins), roots: roots)
    let session = try Session(engine: engine, policy: policy)

    var api = try HTTPSession(session, baseURL: base)
    api.requestSerializer = JSONRequestSerializer()
    let serializer = DecodableResponseSerializer(Order.self)

    do {
        let placed = try await api.post("orders", parameters: ["item": "hinge", "count": 2], as: serializer)
        print("status \(placed.head.status) from \(placed.url)")

        if let id = placed.value?.id, let order = try await api.get("orders/\(id)", as: serializer).value {
            print("order \(order.id): \(order.item), \(order.state)")
        }
    } catch {
        explain(error)
        throw error
    }

    await session.finishTasksAndInvalidate()
    engine.stop()
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
