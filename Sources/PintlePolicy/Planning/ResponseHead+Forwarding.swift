// SPDX-License-Identifier: Apache-2.0

package import PintleMessage
package import PintleTrust

extension ResponseHead {
    /// The head as a client gets it, without framing.
    ///
    /// - Parameters:
    ///   - rules: of the route.
    ///   - via: the pseudonym of this proxy, or nil for none.
    ///   - version: in which the origin has answered.
    ///   - marks: violations of the response that are only reported.
    ///   - others: names of such of the request, or of the trust in the origin.
    ///   - time: the Date of a final response that has none (RFC 9110 §6.6.1). Default: now.
    package consuming func forwarded(
        by rules: HeaderRules?, via: String?, version: String, marks: [ValidationError.Kind], others: [String],
        at time: @autoclosure () -> UnixTime = .now
    ) -> ResponseHead {
        var head = self
        Forwarding.removeHopByHop(from: &head.fields)
        if head.status >= 200, !head.fields.contains(.date) {
            head.fields.append("Date", HTTPDate.text(time().seconds))
        }
        rules?.apply(to: &head.fields)
        for violation in marks { head.fields.append("Pintle-Violation", violation.rawValue) }
        if let via { Forwarding.appendVia(via, version: version, to: &head.fields) }
        for violation in others { head.fields.append("Pintle-Violation", violation) }
        return head
    }
}

extension Fields {
    /// The trailers of a response as a client gets them.
    ///
    /// - Parameter rules: of the route.
    package func forwarded(asTrailersBy rules: HeaderRules?) -> Fields {
        var fields = self
        Forwarding.removeForbidden(fromTrailers: &fields)
        rules?.apply(toTrailers: &fields)
        return fields
    }

    /// Puts fields in front of these: the origin's trailers stand before what was noted before they came.
    package mutating func prepend(_ fields: Fields) {
        var all = fields
        for (name, value) in self.pairs { all.append(name, value) }
        self = all
    }
}
