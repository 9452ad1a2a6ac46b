// SPDX-License-Identifier: Apache-2.0

package import PintleActivity
package import PintlePolicy
package import PintleProxy

extension ObservedExchange {
    /// The exchange without its secrets.
    package func shown(_ redaction: Redaction) -> ShownExchange {
        ShownExchange(
            self.record, request: self.requestFields, response: self.responseFields,
            bodies: self.bodies?.shown(of: self, redaction), redaction: redaction)
    }
}

extension AdminProgram {
    /// The redaction of the exchange log, which everything that is shown shares.
    var redaction: Redaction { self.active.logConfiguration.redact ? .on : .off }
}
