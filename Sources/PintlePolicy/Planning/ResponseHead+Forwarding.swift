// SPDX-License-Identifier: Apache-2.0

package import PintleActivity
package import PintleMessage
package import PintleSerialization
package import PintleTrust

extension ResponseHead {
    /// Makes the head that a client gets, without framing.
    ///
    /// - Parameters:
    ///   - rewriter: the route's changes; nil for none.
    ///   - via: the pseudonym of this proxy; nil for none.
    ///   - version: the HTTP version of the origin's response.
    ///   - marks: violations of the response that are only reported.
    ///   - others: names of reported violations by the request, or by the trust in the origin.
    ///   - simulation: the kind of answer, if it is not the origin's own.
    ///   - time: the Date of a final response that has none (RFC 9110 §6.6.1). Default: now.
    package consuming func forwarded(
        by rewriter: ResponseRewriter?, via: String?, version: String, marks: [ValidationError.Kind], others: [String],
        simulation: Simulation? = nil, at time: @autoclosure () -> UnixTime = .now
    ) -> ResponseHead {
        var head = self
        Forwarding.removeHopByHop(from: &head.fields)
        if head.status >= 200, !head.fields.contains(.date) {
            head.fields.append("Date", HTTPDate.text(time().seconds))
        }
        rewriter?.apply(to: &head.fields)
        for violation in marks { head.fields.append("Pintle-Violation", violation.rawValue) }
        if let via { Forwarding.appendVia(via, version: version, to: &head.fields) }
        if let simulation { head.fields.append("Pintle-Simulated", simulation.rawValue) }
        for violation in others { head.fields.append("Pintle-Violation", violation) }
        return head
    }
}

extension Fields {
    /// Makes the trailers of a response that a client gets.
    ///
    /// - Parameter rewriter: the route's changes; nil for none.
    package func forwarded(asTrailersBy rewriter: ResponseRewriter?) -> Fields {
        var fields = self
        Forwarding.removeForbidden(fromTrailers: &fields)
        rewriter?.apply(toTrailers: &fields)
        return fields
    }

    /// Inserts fields before these, so that the origin's trailers precede fields that were noted before they arrived.
    package mutating func prepend(_ fields: Fields) {
        var all = fields
        for (name, value) in self.pairs { all.append(name, value) }
        self = all
    }
}
