// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity

/// Writes families of metrics, each at once, in one of the text formats.
struct MetricsText {
    /// The values of a family's labels, in order, and a number.
    typealias Sample = (labels: [String], value: String)

    private let format: MetricsFormat
    private var text = ""

    init(_ format: MetricsFormat) { self.format = format }

    /// Writes a family that is no histogram; nothing if it has no samples.
    mutating func write(_ family: MetricFamily, _ samples: [Sample]) {
        guard !samples.isEmpty else { return }
        self.begin(family)
        for sample in samples {
            self.text += family.samples[0]
            self.text += Self.labels(family.labels, sample.labels)
            self.text += " \(sample.value)\n"
        }
    }

    /// Writes a histogram for each set of labels; nothing if there is none.
    mutating func write(_ family: MetricFamily, _ histograms: [(labels: [String], value: DurationHistogram)]) {
        guard !histograms.isEmpty else { return }
        self.begin(family)
        // Bounds are written in the same way in both formats, though only OpenMetrics demands `1.0` for 1: they are values of
        // labels, and a scraper that changes its format should go on with the same series.
        let bounds = DurationHistogram.bounds.map(\.secondsText) + ["+Inf"]
        for (labels, histogram) in histograms {
            var count = 0
            for (bound, bucket) in zip(bounds, histogram.buckets) {
                count += bucket.count
                self.text +=
                    "\(family.rawValue)_bucket\(Self.labels(family.labels + ["le"], labels + [bound])) \(count)"
                if self.format == .openMetrics, let exemplar = bucket.exemplar { self.write(exemplar) }
                self.text += "\n"
            }
            let labels = Self.labels(family.labels, labels)
            self.text += "\(family.rawValue)_sum\(labels) \(histogram.sum.secondsText)\n"
            self.text += "\(family.rawValue)_count\(labels) \(count)\n"
        }
    }

    /// Ends the text, and returns it.
    mutating func finish() -> String {
        if self.format == .openMetrics { self.text += "# EOF\n" }
        return self.text
    }

    private mutating func begin(_ family: MetricFamily) {
        let (name, kind) =
            switch self.format {
            case .openMetrics: (family.rawValue, family.kind.rawValue)
            // Here the name of a family is that of its samples, but for histograms.
            case .text:
                switch family.kind {
                case .counter, .gauge: (family.samples[0], family.kind.rawValue)
                case .histogram: (family.rawValue, family.kind.rawValue)
                case .info: (family.samples[0], MetricFamily.Kind.gauge.rawValue)
                }
            }
        self.text += "# HELP \(name) \(family.help)\n# TYPE \(name) \(kind)\n"
        if self.format == .openMetrics, let unit = family.unit { self.text += "# UNIT \(name) \(unit)\n" }
    }

    /// The name and the value may have 128 characters together; the ids of exchanges have about twenty.
    private mutating func write(_ exemplar: DurationHistogram.Exemplar) {
        let time = Duration.milliseconds(exemplar.time.milliseconds)
        self.text +=
            " # \(Self.labels(["exchange_id"], [exemplar.id])) \(exemplar.value.secondsText) \(time.secondsText)"
    }

    private static func labels(_ names: [String], _ values: [String]) -> String {
        precondition(names.count == values.count, "BUG: \(names) have the values \(values)")
        if names.isEmpty { return "" }
        return "{" + zip(names, values).map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",") + "}"
    }

    private static func escaped(_ value: String) -> String {
        var escaped = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

extension Duration {
    /// Seconds in decimal digits, with one to nine of them after the point, as both formats read them.
    var secondsText: String {
        let (seconds, attoseconds) = self.components
        // There are fewer than 10¹⁸ attoseconds beside the seconds, so that no sign and no tenth digit come.
        let digits = String(attoseconds.magnitude / 1_000_000_000)
        var fraction = String(repeating: "0", count: 9 - digits.count) + digits
        while fraction.count > 1, fraction.last == "0" { fraction.removeLast() }
        let sign = self < .zero ? "-" : ""
        return "\(sign)\(seconds.magnitude).\(fraction)"
    }
}
