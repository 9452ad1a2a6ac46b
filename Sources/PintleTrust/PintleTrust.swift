public struct TrustError: Error, Sendable { public let message: String }
public struct SecurityPolicy: Sendable, Hashable { public static let `default` = SecurityPolicy() }
public struct Verdict: Sendable { public var error: TrustError? { nil } }
public final class TrustEvaluator: Sendable { 
  public init(policy: SecurityPolicy) throws(TrustError) {}
  package func install(on sslContext: OpaquePointer, host: String, report: @escaping (Verdict) -> Void) {}
}
