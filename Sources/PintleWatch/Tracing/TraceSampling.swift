// SPDX-License-Identifier: Apache-2.0

/// The choice of the new traces that are recorded, by their ids alone: all parts of a system with the same fraction choose the same.
///
/// It is OpenTelemetry's consistent sampling: the last 56 bits of the id are a random number, and the traces with numbers at or
/// above a threshold are recorded. So a smaller fraction chooses a part of what a larger one does.
package struct TraceSampling: Hashable, Sendable {
    private static let range: UInt64 = 1 << 56
    private let threshold: UInt64

    /// - Parameter fraction: 0…1; other numbers count as the nearest of these.
    package init(_ fraction: Double) {
        let fraction = fraction.isNaN ? 0 : min(max(fraction, 0), 1)
        self.threshold = UInt64(((1 - fraction) * Double(Self.range)).rounded())
    }

    /// True if the trace is recorded.
    package func chooses(_ trace: TraceID) -> Bool { trace.low & (Self.range - 1) >= self.threshold }
}
