// SPDX-License-Identifier: Apache-2.0

public import Logging
internal import PintleMessage
internal import PintleSystem

extension Interceptor {
    /// Logs the end of each task: method, URL without its query, status, bytes, milliseconds and number of requests.
    /// The outcome of each attempt is logged as a debug message, unless an earlier step repeats the attempt.
    ///
    /// Fields, bodies and queries may contain secrets and are never logged.
    ///
    /// - Parameter level: the level of a task that succeeded, whatever its status, or was cancelled; a failed task is a
    ///   warning.
    public static func logging(_ logger: Logger, level: Logger.Level = .info) -> Interceptor {
        Interceptor { interceptor in
            interceptor.retry = { outcome, attempt in
                var metadata = attempt.request.metadata
                metadata["attempt"] = "\(attempt.number)"
                switch outcome {
                case .response(let head): metadata["status"] = "\(head.status)"
                case .failure(let error): metadata["error"] = "\(error.code.rawValue)"
                }
                logger.debug("http.client.attempt", metadata: metadata)
                return .accept
            }
            interceptor.completed = { task, error in
                var metadata = task.currentRequest.metadata
                let (progress, metrics) = (task.progress, task.metrics)
                metadata["status"] = task.response.map { "\($0.status)" }
                metadata["bytes_in"] = "\(progress.received)"
                metadata["bytes_out"] = "\(progress.sent)"
                metadata["duration_ms"] = "\(metrics.total.roundedMilliseconds)"
                metadata["requests"] = "\(metrics.transactions.count)"
                guard let error, error.code != .cancelled else {
                    if error != nil { metadata["cancelled"] = "true" }
                    return logger.log(level: level, "http.client.request", metadata: metadata)
                }
                metadata["error"] = "\(error.code.rawValue)"
                metadata["reason"] = "\(error)"
                logger.warning("http.client.request", metadata: metadata)
            }
        }
    }
}

extension SessionRequest {
    fileprivate var metadata: Logger.Metadata {
        let path = self.url.path.prefix { $0 != "?" }
        return [
            "method": "\(self.method)",
            "url": "\(self.url.scheme.rawValue)://\(self.url.authority)\(path)",
        ]
    }
}
