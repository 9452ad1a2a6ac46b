// SPDX-License-Identifier: Apache-2.0

/// A field of the exchange log, by its name there. In the order of the line.
package enum ExchangeField: String, Sendable, CaseIterable {
    case time
    case id
    case client
    case user
    case tag
    case process
    case pid
    case mode
    case captured
    case method
    case url
    case host
    case address
    case route
    case rule
    case decision
    case revision
    case trust
    case pin
    case form
    case chain
    case assurance
    case status
    case upstreamStatus = "upstream_status"
    case bytesIn = "bytes_in"
    case bytesOut = "bytes_out"
    case duration = "duration_ms"
    case connect = "connect_ms"
    case tlsHandshake = "tls_ms"
    case firstByte = "first_byte_ms"
    case tls
    case http
    case reused
    case retries
    case redirects
    case cache
    case source
    case credentials
    case violations
    case error
}
