// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The purpose of a session's traffic, by which the network can treat it (RFC 4594 §2.3).
public enum ServiceType: String, Sendable, Hashable, CaseIterable {
    /// Ordinary traffic: no mark.
    case `default`
    /// Telephony.
    case voip
    /// Video conferences.
    case video
    /// Transfers in the background: less than best effort (RFC 8622).
    case background
    /// Spoken commands and other interactive audio.
    case voice
    /// Small responses for which a person waits.
    case responsiveData = "responsive_data"
    /// Streamed audio and video.
    case avStreaming = "av_streaming"
    /// The signalling of calls.
    case callSignaling = "call_signaling"

    /// The differentiated services code point, 0…63.
    public var codePoint: UInt8 {
        switch self {
        case .default: 0
        case .voip, .voice: 46
        case .video: 34
        case .background: 1
        case .responsiveData: 18
        case .avStreaming: 26
        case .callSignaling: 40
        }
    }

    /// Marks the packets of a socket; does nothing for the mark that they have anyway.
    func mark(_ socket: Int32, family: Int32) {
        guard self.codePoint != 0 else { return }
        // The code point is the upper six bits of the field; the lower two belong to congestion control.
        var field = Int32(self.codePoint) << 2
        let size = socklen_t(MemoryLayout<Int32>.size)
        if family == AF_INET6 {
            setsockopt(socket, Int32(IPPROTO_IPV6), IPV6_TCLASS, &field, size)
        } else {
            setsockopt(socket, Int32(IPPROTO_IP), IP_TOS, &field, size)
        }
    }
}
