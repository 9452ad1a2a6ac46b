// SPDX-License-Identifier: Apache-2.0

/// The configuration's `activity` section.
package struct ActivitySettings: Hashable, Sendable {
    /// How long work must last before it shows. Default 1 s; zero shows at once.
    package var activationDelay: Duration
    /// How long it must be quiet before it hides. Default 170 ms; zero hides at once.
    package var completionDelay: Duration
    /// How often changed counters are logged. Default 60 s; zero logs them on demand only.
    package var logInterval: Duration

    /// Gives what differs from the defaults.
    package init(
        activationDelay: Duration = .seconds(1),
        completionDelay: Duration = .milliseconds(170),
        logInterval: Duration = .seconds(60)
    ) {
        self.activationDelay = activationDelay
        self.completionDelay = completionDelay
        self.logInterval = logInterval
    }
}
