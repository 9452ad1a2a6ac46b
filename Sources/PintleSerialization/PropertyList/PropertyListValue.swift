// SPDX-License-Identifier: Apache-2.0

/// A value in a property list.
///
/// Dictionaries are equal if they have the same members in any order, because the format keeps no order.
public indirect enum PropertyListValue: Sendable, Equatable {
    /// A truth value.
    case bool(Bool)
    /// A whole number.
    case integer(Int64)
    /// A whole number above `Int64.max`.
    case unsigned(UInt64)
    /// A floating-point number, which may be NaN or infinite.
    case real(Double)
    /// Text.
    case string(String)
    /// Bytes.
    case data([UInt8])
    /// A point in time, in seconds since the beginning of 1970 (UTC).
    case date(Double)
    /// Values in order.
    case array([PropertyListValue])
    /// Named values.
    case dictionary([String: PropertyListValue])
}
