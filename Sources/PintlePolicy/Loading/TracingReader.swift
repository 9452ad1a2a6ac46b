// SPDX-License-Identifier: Apache-2.0

private import PintleMessage

/// Reads `tracing`.
enum TracingReader {
    /// The path for traces below the address of a receiver (OTLP/HTTP).
    private static let usualPath = "/v1/traces"

    /// - Parameter listen: the places of this proxy, which must not be the receiver.
    /// - Returns: nil after an error, and a nil configuration for `off`.
    static func read(_ node: StrictNode, beside listen: [ListenAddress]) -> TracingConfiguration?? {
        if node.isOff { return .some(nil) }
        guard let map = node.map(.tracing) else { return nil }
        guard let place = map["otlp"] else {
            node.report("the key \"otlp\" is missing: the URL of a receiver, as in http://127.0.0.1:4318")
            return nil
        }
        guard let receiver = Self.receiver(place) else { return nil }
        // Each post of spans would be an exchange, and make spans itself.
        if let listener = listen.first(where: { $0.isReached(by: receiver.authority) }) {
            place.report("\(receiver.authority) is this proxy, which listens on \(listener): a loop")
        }
        var tracing = TracingConfiguration(receiver: receiver)
        map.read("sample", into: &tracing.sample, Self.sample)
        map.read("continue", into: &tracing.continuation, Self.continuation)
        return tracing
    }

    private static func receiver(_ node: StrictNode) -> HTTPURL? {
        node.parsed { text throws(Malformed) in
            do throws(HTTPURLError) {
                let url = try HTTPURL(text)
                return url.path == "/"
                    ? HTTPURL(scheme: url.scheme, authority: url.authority, path: Self.usualPath) : url
            } catch {
                throw Malformed(error.message)
            }
        }
    }

    private static func sample(_ node: StrictNode) -> Double? {
        node.parsed { text throws(Malformed) in
            let isDecimal = text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
            guard isDecimal, let fraction = Double(text), (0...1).contains(fraction) else {
                throw Malformed("must be a fraction from 0 to 1, as in 0.1")
            }
            return fraction
        }
    }

    private static func continuation(_ node: StrictNode) -> TracingConfiguration.Continuation? {
        if node.isOff { return .off }
        if node.isScalar("trusted") { return .trusted }
        return node.values { node in
            node.parsed { text throws(Malformed) in
                do throws(Malformed) {
                    return try CIDR(text)
                } catch {
                    guard !node.isScalar("trusted") else { throw Malformed("must be alone, not in a list") }
                    throw Malformed("must be off, trusted or networks, as in [10.0.0.0/8]; \(error.reason)")
                }
            }
        }.map { .networks($0) }
    }
}
