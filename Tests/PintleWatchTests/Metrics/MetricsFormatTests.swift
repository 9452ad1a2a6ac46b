// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PintleWatch

@Suite struct MetricsFormatTests {
    @Test(arguments: [
        // Prometheus 2.5 to 2.42, and 3.
        "application/openmetrics-text; version=0.0.1,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
        "application/openmetrics-text;version=1.0.0;q=0.4,text/plain;version=0.0.4;q=0.5",
        "", "*/*", "text/plain", "text/html,application/xhtml+xml,*/*;q=0.8", "application/*",
        "application/openmetrics-text;q=0", "application/openmetrics-text;q=0.5, */*",
        "application/openmetrics-text;q=x",
        "application/openmetrics-text;q=nan", "application/openmetrics-text;q=7",
        "application/openmetrics-text; version=2.0.0",
        "application/json", ",,;q=1,;", ";", "=",
    ])
    func `the text format is for all that do not ask for another`(accept: String) {
        #expect(MetricsFormat(accept: accept) == .text)
    }

    @Test(arguments: [
        "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
            + "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
        "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,"
            + "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,/;q=0.1",
        "application/openmetrics-text", "Application/OpenMetrics-Text ; Version=\"1.0.0\" ; Q=1.000",
        "text/plain;q=0.3, application/openmetrics-text;q=0.3",
        "*/*, text/plain;q=0.2, application/openmetrics-text;q=0.3",
        "text/*;q=0.2, */*;q=0.9, application/openmetrics-text;q=0.3",
    ])
    func `OpenMetrics is for those that ask for it at least as much`(accept: String) {
        #expect(MetricsFormat(accept: accept) == .openMetrics)
    }

    @Test func `without the field, and after a list of thousands, it is the text format`() {
        #expect(MetricsFormat(accept: nil) == .text)
        let list = String(repeating: "application/json,", count: 100_000)
        #expect(MetricsFormat(accept: list + "application/openmetrics-text") == .text)
    }

    @Test func `each format is named with its version`() {
        #expect(MetricsFormat.text.contentType == "text/plain; version=0.0.4; charset=utf-8")
        #expect(MetricsFormat.openMetrics.contentType == "application/openmetrics-text; version=1.0.0; charset=utf-8")
    }
}
