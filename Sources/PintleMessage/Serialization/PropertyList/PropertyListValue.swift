// SPDX-License-Identifier: Apache-2.0

/// A value as property lists have them.
///
/// Dictionaries are equal when they have the same members, whatever their order: the format does not keep one.
public indirect enum PropertyListValue: Sendable, Equatable {
    /// Truth.
    case bool(Bool)
    /// A whole number.
    case integer(Int64)
    /// A whole number above what `.integer` holds.
    case unsigned(UInt64)
    /// A floating-point number, which may be NaN or infinite.
    case real(Double)
    /// Text.
    case string(String)
    /// Bytes.
    case data([UInt8])
    /// A moment, in seconds since 1970 began (UTC).
    case date(Double)
    /// Values in order.
    case array([PropertyListValue])
    /// Named values.
    case dictionary([String: PropertyListValue])
}
