// SPDX-License-Identifier: Apache-2.0

extension Result {
    /// What `work` returns or throws: typed errors do not pass through functions such as `withTaskCancellationHandler`,
    /// which rethrow any error.
    package init(_ work: () async throws(Failure) -> Success) async {
        do throws(Failure) {
            self = .success(try await work())
        } catch {
            self = .failure(error)
        }
    }
}
