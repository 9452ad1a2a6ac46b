// SPDX-License-Identifier: Apache-2.0

extension Result {
    /// Creates a result from the value or error of `work`. Typed errors do not pass through functions such as
    /// `withTaskCancellationHandler`, which rethrow errors of any type.
    package init(_ work: () async throws(Failure) -> Success) async {
        do throws(Failure) {
            self = .success(try await work())
        } catch {
            self = .failure(error)
        }
    }
}
