// SPDX-License-Identifier: Apache-2.0

package import PintleTrust

/// A verdict, and the time at which it was noted: at most the length of one transfer after it was made.
package struct DatedVerdict: Sendable {
    package let verdict: Verdict
    package let moment: UnixTime

    package init(verdict: Verdict, moment: UnixTime) {
        self.verdict = verdict
        self.moment = moment
    }
}
