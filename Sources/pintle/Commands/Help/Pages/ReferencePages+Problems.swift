// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintlePolicy

extension ReferencePages {
    static var problems: ReferencePage {
        ReferencePage(
            topic: .problems,
            introduction: [
                "Pintle itself answers what it refuses, and what fails before an origin has answered, with a problem (RFC 9457): "
                    + "`type` is `urn:pintle:problem:NAME`, `detail` a sentence about this case, `instance` the id of the "
                    + "exchange in the log. Clients that do not accept JSON get text. `Proxy-Status` (RFC 9209) has the error's "
                    + "registered name.",
                "Violations are the kinds in `violations` of the log and in the counters. In report mode the response passes with "
                    + "`Pintle-Violation: KIND`.",
            ],
            sections: [
                .init(title: "Problems", kind: "name", layout: .headings, entries: Problem.Name.allCases.map(\.entry)),
                .init(title: "Violations", kind: "kind", entries: ViolationKind.allCases.map(\.entry)),
            ], more: ["http.md", "timeouts.md"])
    }
}

extension Problem.Name {
    fileprivate var entry: ReferencePage.Entry {
        .init(
            self.rawValue,
            [
                ("Title", self.title), ("Status", self.statuses.map { "\($0)" }.joined(separator: ", ")),
                ("Proxy-Status", "`error=\(self.proxyError)`"), ("Decision in the log", "`\(self.decision)`"),
                ("Likely cause", self.likelyCause), ("What to do", self.remedy),
            ], self.meaning)
    }

    /// The usual status, and others that some cases have.
    private var statuses: [UInt16] {
        switch self {
        case .badRequest: [self.status, 501, 505]
        case .bodyTooLarge: [self.status, 502]
        default: [self.status]
        }
    }
}

extension ViolationKind {
    fileprivate var entry: ReferencePage.Entry {
        .init(
            self.rawValue,
            [
                ("problem", self.problem.map { "`\($0.rawValue)`" } ?? "none: it is only reported"),
                ("what to do", RunRule(self).remedy),
            ], self.meaning)
    }
}
