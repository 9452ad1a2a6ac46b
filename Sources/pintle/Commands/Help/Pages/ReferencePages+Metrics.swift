// SPDX-License-Identifier: Apache-2.0

internal import PintleWatch

extension ReferencePages {
    static var metrics: ReferencePage {
        ReferencePage(
            topic: .metrics,
            introduction: [
                "The admin endpoint answers `GET /metrics` with these, for Prometheus and OpenMetrics. Names in labels "
                    + "come from the configuration, methods and statuses from fixed lists, so that the number of series is bounded."
            ],
            sections: [
                .init(
                    kind: "metric",
                    entries: MetricFamily.allCases.map { family in
                        let labels = family.labels.isEmpty ? nil : family.labels.joined(separator: ", ")
                        return .init(
                            family.samples.joined(separator: ", "),
                            [("type", family.kind.rawValue), ("labels", labels), ("unit", family.unit)], family.help)
                    })
            ], more: ["metrics.md"])
    }
}
