// SPDX-License-Identifier: Apache-2.0

/// The configuration's `activity` section.
package struct ActivitySettings: Hashable, Sendable {
    /// The time that work must last before it is shown. Default 1 s; zero shows it at once.
    package var activationDelay: Duration
    /// The time that must pass without work before the indicator hides. Default 170 ms; zero hides it at once.
    package var completionDelay: Duration
    /// The interval at which counters that changed are logged. Default 60 s; zero logs them on demand only.
    package var logInterval: Duration

    /// Creates settings; the parameters default to the values above.
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
