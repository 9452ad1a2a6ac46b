// SPDX-License-Identifier: Apache-2.0

internal import CPintleCurl

/// Names of hosts with letters of other scripts.
package enum InternationalName {
    /// The name in A-labels (RFC 9525 §6.3, RFC 5891 §4.4); nil for what is no name, and where libcurl was built without
    /// libidn2 or is older than 7.88.
    ///
    /// libcurl's mapping is the one that requests to the name get. Foundation's needs tables that the program is linked
    /// without.
    package static func aLabels(_ host: String) -> String? {
        guard let url = curl_url() else { return nil }
        defer { curl_url_cleanup(url) }
        guard curl_url_set(url, CURLUPART_HOST, host, 0) == CURLUE_OK else { return nil }
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(url, CURLUPART_HOST, &text, UInt32(CURLU_PUNYCODE)) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
