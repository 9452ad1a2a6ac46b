// SPDX-License-Identifier: Apache-2.0

package import PintlePolicy
package import PintleTrust

/// The places of a policy's pins in the configuration.
package struct PinPlaces: Sendable, Hashable {
    /// One pin, or the certificates of one file.
    package struct Place: Sendable, Hashable {
        package let pins: [Pin]
        package let position: SourcePosition
        /// The setting's name: `trust.payments.pins[0]`.
        package let source: String
    }

    /// All places, in the order of the configuration: pins, then certificates.
    package private(set) var places: [Place] = []

    /// Reads the certificate files again, because the compiled policy does not say which file a certificate came from.
    /// Files that cannot be read any more are left out.
    package init(_ trust: TrustConfiguration) {
        for (index, text) in trust.pins.enumerated() {
            guard let pin = try? Pin(text.value) else { continue }
            self.places.append(
                Place(pins: [pin], position: text.position, source: "trust.\(trust.name).pins[\(index)]"))
        }
        for (index, file) in trust.certificates.enumerated() {
            guard let certificates = try? Certificate.load(path: file.value) else { continue }
            self.places.append(
                Place(
                    pins: certificates.map(\.spkiPin), position: file.position,
                    source: "trust.\(trust.name).certificates[\(index)]"))
        }
    }

    /// An empty list, for hosts to which no policy applies.
    package init() {}

    var first: Place? { self.places.first }
}
