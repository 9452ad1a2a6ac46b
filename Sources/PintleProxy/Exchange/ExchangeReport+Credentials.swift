// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy
internal import PintleSession

/// The part of the report about credentials.
extension ExchangeReport {
    /// Looks for the placeholders of credentials in a request. Its stream then puts the values into it.
    ///
    /// - Returns: the problem of a request with a credential that it may not have.
    func attachCredentials(
        to planned: inout PlannedRequest, by decision: Decision?, in active: ActiveConfiguration
    ) -> Problem? {
        // Nearly all configurations have none.
        guard let credentials = active.credentials, let decision else { return nil }
        do throws(Problem) {
            let release = try credentials.release(planned.transfer, content: planned.content, by: decision)
            planned.transfer.attachment = release
            // A redirect that is followed may lead away from the credentials of the request before.
            if let release { self.releases.append(release) }
            return nil
        } catch {
            return error
        }
    }

    /// The names of the credentials that the origins have got, each once.
    var credentials: [String] {
        // Only redirects bring more.
        self.releases.count == 1 ? self.releases[0].names : Set(self.releases.flatMap(\.names)).sorted()
    }
}
