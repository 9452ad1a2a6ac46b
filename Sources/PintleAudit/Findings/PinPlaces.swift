// SPDX-License-Identifier: Apache-2.0

package import PintlePolicy
package import PintleTrust

/// Where the pins of a policy stand in the configuration.
package struct PinPlaces: Sendable, Hashable {
    /// One pin, or the certificates of one file.
    package struct Place: Sendable, Hashable {
        package let pins: [Pin]
        package let position: SourcePosition
        /// `trust.payments.pins[0]`.
        package let source: String
    }

    /// In the order of the configuration: pins, then certificates.
    package private(set) var places: [Place] = []

    /// Reads the certificates' files again: which of them came from which file is not in the compiled policy. One that
    /// has become unreadable since is left out.
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

    /// For hosts that no policy judges.
    package init() {}

    var first: Place? { self.places.first }
}
