package import PintleTrust
extension Policy { package var securityPolicies: [SecurityPolicy] { configuration.trust.map {_ in .default} } }
