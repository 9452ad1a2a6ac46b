// SPDX-License-Identifier: Apache-2.0

internal import CPintleCurl

/// What libcurl measured.
extension EasyHandle {
    /// Completes `metrics` when the transfer has ended with `result`.
    func fill(_ metrics: inout TransferMetrics, after result: CURLcode) {
        metrics.nameLookup = self.offset(CURLINFO_NAMELOOKUP_TIME_T)
        metrics.connect = self.offset(CURLINFO_CONNECT_TIME_T)
        metrics.tls = self.offset(CURLINFO_APPCONNECT_TIME_T)
        metrics.firstByte = self.offset(CURLINFO_STARTTRANSFER_TIME_T)
        metrics.total = self.offset(CURLINFO_TOTAL_TIME_T)
        metrics.reusedConnection = Self.hadConnection(result) && self.long(CURLINFO_NUM_CONNECTS) == 0
        metrics.address = self.text(CURLINFO_PRIMARY_IP)
        metrics.httpVersion = Self.versionName(self.long(CURLINFO_HTTP_VERSION))
    }

    /// Whether there was a connection that could do what it was for, or break.
    private static func hadConnection(_ result: CURLcode) -> Bool {
        switch result {
        case CURLE_OK, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_SEND_FAIL_REWIND: true
        default: false
        }
    }

    private static func versionName(_ version: Int) -> String {
        switch version {
        case Int(CURL_HTTP_VERSION_1_0): "1.0"
        case Int(CURL_HTTP_VERSION_1_1): "1.1"
        case Int(CURL_HTTP_VERSION_2_0): "2"
        default: ""
        }
    }
}

extension TransferMetrics {
    /// Adds what had passed when libcurl's clock started, in microseconds, to all phases that there were.
    mutating func delay(by time: Int64) {
        for phase in [\Self.nameLookup, \.connect, \.tls, \.firstByte, \.total] where self[keyPath: phase] > 0 {
            self[keyPath: phase] += time
        }
    }
}
