// SPDX-License-Identifier: Apache-2.0

/// The authorization of authorities to certify one name, as its zones publish it.
package struct CAAReport: Sendable, Hashable {
    /// The certificates that the name may have.
    package enum Permission: Sendable, Hashable {
        case ofAnyAuthority
        /// Those of the authorities with these names, sorted.
        case ofAuthorities([String])
        case ofNoAuthority
    }

    /// The name of the certificate that was asked for, without `*.`.
    package var name: String
    /// True if the certificate is for all names below it.
    package var isWildcard: Bool
    /// The name that has the records: `name` or one above it; nil if none of them has any.
    package var place: String?
    package var records: [CAARecord]
    /// The reason why the records are not known; nil if they are.
    package var failure: String?

    package init(
        name: String, isWildcard: Bool, place: String? = nil, records: [CAARecord] = [], failure: String? = nil
    ) {
        self.name = name
        self.isWildcard = isWildcard
        self.place = place
        self.records = records
        self.failure = failure
    }

    /// The certificate's name: `*.a.example` or `a.example`.
    package var subject: String { self.isWildcard ? "*.\(self.name)" : self.name }

    /// The permission by the rules of RFC 8659 §4; nil if the records are not known.
    package var permission: Permission? {
        guard self.failure == nil else { return nil }
        guard !self.records.contains(where: \.stopsEveryAuthority) else { return .ofNoAuthority }
        // For wildcards, `issuewild` counts in the place of `issue`, if there is one.
        let wild = self.isWildcard ? self.records.filter { $0.tag == "issuewild" } : []
        let counting = wild.isEmpty ? self.records.filter { $0.tag == "issue" } : wild
        guard !counting.isEmpty else { return .ofAnyAuthority }
        let issuers = Set(counting.map(\.issuer).filter { !$0.isEmpty })
        return issuers.isEmpty ? .ofNoAuthority : .ofAuthorities(issuers.sorted())
    }

    /// The finding for people, in a few words: `*.a.example: ca.example by 0 issue "ca.example" at a.example`.
    package var summary: String {
        let words: String
        switch self.permission {
        case nil: words = "unknown: \(self.failure ?? "")"
        case .ofAnyAuthority: words = "any authority"
        case .ofNoAuthority: words = "no authority"
        case .ofAuthorities(let issuers): words = issuers.joined(separator: " ")
        }
        guard let place else { return "\(self.subject): \(words)" }
        let records = self.records.map(\.description).joined(separator: ", ")
        return "\(self.subject): \(words) by \(records) at \(place)"
    }
}
