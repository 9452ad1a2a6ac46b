// SPDX-License-Identifier: Apache-2.0

/// The tests of NIST's Public Key Interoperability Test Suite (version 1.0.1) with one expectation each.
extension PKITSCase {
    /// A line has the number in the suite's document, the expected outcome, the name of the certificate, and the reason for
    /// a difference of Pintle's, if any.
    ///
    /// `valid` is valid with and without revocation lists, `invalid` is neither, and `list` is a path that is valid until
    /// the lists are checked. If the suite has several settings for a path, the line is for a verifier that accepts any
    /// policy and requires none.
    static let table = """
        4.1.1 valid ValidCertificatePath
        4.1.2 invalid InvalidCASignature
        4.1.3 invalid InvalidEESignature
        4.1.4 valid ValidDSASignatures dsa
        4.1.5 valid ValidDSAParameterInheritance dsa
        4.1.6 invalid InvalidDSASignature
        4.2.1 invalid InvalidCAnotBeforeDate
        4.2.2 invalid InvalidEEnotBeforeDate
        4.2.3 valid Validpre2000UTCnotBeforeDate
        4.2.4 valid ValidGeneralizedTimenotBeforeDate
        4.2.5 invalid InvalidCAnotAfterDate
        4.2.6 invalid InvalidEEnotAfterDate
        4.2.7 invalid Invalidpre2000UTCEEnotAfterDate
        4.2.8 valid ValidGeneralizedTimenotAfterDate
        4.3.1 invalid InvalidNameChaining
        4.3.2 invalid InvalidNameChainingOrder
        4.3.3 valid ValidNameChainingWhitespace
        4.3.4 valid ValidNameChainingWhitespace
        4.3.5 valid ValidNameChainingCapitalization
        4.3.6 valid ValidNameUIDs
        4.3.7 valid ValidRFC3280MandatoryAttributeTypes
        4.3.8 valid ValidRFC3280OptionalAttributeTypes
        4.3.9 valid ValidUTF8StringEncodedNames
        4.3.10 valid ValidRolloverfromPrintableStringtoUTF8String
        4.3.11 valid ValidUTF8StringCaseInsensitiveMatch
        4.4.1 list InvalidMissingCRL issuerWithoutList
        4.4.2 list InvalidRevokedCA
        4.4.3 list InvalidRevokedEE
        4.4.4 list InvalidBadCRLSignature
        4.4.5 list InvalidBadCRLIssuerName issuerWithoutList
        4.4.6 list InvalidWrongCRL issuerWithoutList
        4.4.7 valid ValidTwoCRLs
        4.4.8 list InvalidUnknownCRLEntryExtension
        4.4.9 list InvalidUnknownCRLExtension
        4.4.10 list InvalidUnknownCRLExtension
        4.4.11 list InvalidOldCRLnextUpdate
        4.4.12 list Invalidpre2000CRLnextUpdate
        4.4.13 valid ValidGeneralizedTimeCRLnextUpdate
        4.4.14 valid ValidNegativeSerialNumber
        4.4.15 list InvalidNegativeSerialNumber
        4.4.16 valid ValidLongSerialNumber
        4.4.17 valid ValidLongSerialNumber
        4.4.18 list InvalidLongSerialNumber
        4.4.19 valid ValidSeparateCertificateandCRLKeys otherKindOfList
        4.4.20 list InvalidSeparateCertificateandCRLKeys
        4.4.21 list InvalidSeparateCertificateandCRLKeys
        4.5.1 valid ValidBasicSelfIssuedOldWithNew
        4.5.2 list InvalidBasicSelfIssuedOldWithNew
        4.5.3 valid ValidBasicSelfIssuedNewWithOld
        4.5.4 valid ValidBasicSelfIssuedNewWithOld otherKindOfList
        4.5.5 list InvalidBasicSelfIssuedNewWithOld
        4.5.6 valid ValidBasicSelfIssuedCRLSigningKey otherKindOfList
        4.5.7 list InvalidBasicSelfIssuedCRLSigningKey
        4.5.8 invalid InvalidBasicSelfIssuedCRLSigningKey
        4.6.1 invalid InvalidMissingbasicConstraints
        4.6.2 invalid InvalidcAFalse
        4.6.3 invalid InvalidcAFalse
        4.6.4 valid ValidbasicConstraintsNotCritical
        4.6.5 invalid InvalidpathLenConstraint
        4.6.6 invalid InvalidpathLenConstraint
        4.6.7 valid ValidpathLenConstraint
        4.6.8 valid ValidpathLenConstraint
        4.6.9 invalid InvalidpathLenConstraint
        4.6.10 invalid InvalidpathLenConstraint
        4.6.11 invalid InvalidpathLenConstraint
        4.6.12 invalid InvalidpathLenConstraint
        4.6.13 valid ValidpathLenConstraint
        4.6.14 valid ValidpathLenConstraint
        4.6.15 valid ValidSelfIssuedpathLenConstraint
        4.6.16 invalid InvalidSelfIssuedpathLenConstraint
        4.6.17 valid ValidSelfIssuedpathLenConstraint
        4.7.1 invalid InvalidkeyUsageCriticalkeyCertSignFalse
        4.7.2 invalid InvalidkeyUsageNotCriticalkeyCertSignFalse
        4.7.3 valid ValidkeyUsageNotCritical
        4.7.4 list InvalidkeyUsageCriticalcRLSignFalse
        4.7.5 list InvalidkeyUsageNotCriticalcRLSignFalse
        4.8.2 valid AllCertificatesNoPolicies
        4.8.3 valid DifferentPolicies
        4.8.4 invalid DifferentPolicies
        4.8.5 invalid DifferentPolicies
        4.8.6 valid OverlappingPolicies
        4.8.7 invalid DifferentPolicies
        4.8.8 invalid DifferentPolicies
        4.8.9 invalid DifferentPolicies
        4.8.10 valid AllCertificatesSamePolicies
        4.8.11 valid AllCertificatesanyPolicy
        4.8.12 invalid DifferentPolicies
        4.8.13 valid AllCertificatesSamePolicies
        4.8.14 valid AnyPolicy
        4.8.15 valid UserNoticeQualifier
        4.8.16 valid UserNoticeQualifier
        4.8.17 valid UserNoticeQualifier
        4.8.18 valid UserNoticeQualifier
        4.8.19 valid UserNoticeQualifier
        4.8.20 valid CPSPointerQualifier
        4.9.1 valid ValidrequireExplicitPolicy
        4.9.2 valid ValidrequireExplicitPolicy
        4.9.3 invalid InvalidrequireExplicitPolicy
        4.9.4 valid ValidrequireExplicitPolicy
        4.9.5 invalid InvalidrequireExplicitPolicy
        4.9.6 valid ValidSelfIssuedrequireExplicitPolicy
        4.9.7 invalid InvalidSelfIssuedrequireExplicitPolicy
        4.9.8 invalid InvalidSelfIssuedrequireExplicitPolicy
        4.10.1 valid ValidPolicyMapping
        4.10.2 invalid InvalidPolicyMapping
        4.10.3 valid ValidPolicyMapping
        4.10.4 invalid InvalidPolicyMapping
        4.10.5 valid ValidPolicyMapping
        4.10.6 valid ValidPolicyMapping
        4.10.7 invalid InvalidMappingFromanyPolicy
        4.10.8 invalid InvalidMappingToanyPolicy
        4.10.9 valid ValidPolicyMapping
        4.10.10 invalid InvalidPolicyMapping
        4.10.11 valid ValidPolicyMapping
        4.10.12 valid ValidPolicyMapping
        4.10.13 valid ValidPolicyMapping
        4.10.14 valid ValidPolicyMapping
        4.11.1 invalid InvalidinhibitPolicyMapping
        4.11.2 valid ValidinhibitPolicyMapping
        4.11.3 invalid InvalidinhibitPolicyMapping
        4.11.4 valid ValidinhibitPolicyMapping
        4.11.5 invalid InvalidinhibitPolicyMapping
        4.11.6 invalid InvalidinhibitPolicyMapping
        4.11.7 valid ValidSelfIssuedinhibitPolicyMapping
        4.11.8 invalid InvalidSelfIssuedinhibitPolicyMapping
        4.11.9 invalid InvalidSelfIssuedinhibitPolicyMapping
        4.11.10 invalid InvalidSelfIssuedinhibitPolicyMapping
        4.11.11 invalid InvalidSelfIssuedinhibitPolicyMapping
        4.12.1 invalid InvalidinhibitAnyPolicy
        4.12.2 valid ValidinhibitAnyPolicy
        4.12.3 valid inhibitAnyPolicy
        4.12.4 invalid InvalidinhibitAnyPolicy
        4.12.5 invalid InvalidinhibitAnyPolicy
        4.12.6 invalid InvalidinhibitAnyPolicy
        4.12.7 valid ValidSelfIssuedinhibitAnyPolicy
        4.12.8 invalid InvalidSelfIssuedinhibitAnyPolicy
        4.12.9 valid ValidSelfIssuedinhibitAnyPolicy
        4.12.10 invalid InvalidSelfIssuedinhibitAnyPolicy
        4.13.1 valid ValidDNnameConstraints
        4.13.2 invalid InvalidDNnameConstraints
        4.13.3 invalid InvalidDNnameConstraints
        4.13.4 valid ValidDNnameConstraints
        4.13.5 valid ValidDNnameConstraints
        4.13.6 valid ValidDNnameConstraints
        4.13.7 invalid InvalidDNnameConstraints
        4.13.8 invalid InvalidDNnameConstraints
        4.13.9 invalid InvalidDNnameConstraints
        4.13.10 invalid InvalidDNnameConstraints
        4.13.11 valid ValidDNnameConstraints
        4.13.12 invalid InvalidDNnameConstraints
        4.13.13 invalid InvalidDNnameConstraints
        4.13.14 valid ValidDNnameConstraints
        4.13.15 invalid InvalidDNnameConstraints
        4.13.16 invalid InvalidDNnameConstraints
        4.13.17 invalid InvalidDNnameConstraints
        4.13.18 valid ValidDNnameConstraints
        4.13.19 valid ValidDNnameConstraints
        4.13.20 invalid InvalidDNnameConstraints
        4.13.21 valid ValidRFC822nameConstraints
        4.13.22 invalid InvalidRFC822nameConstraints
        4.13.23 valid ValidRFC822nameConstraints
        4.13.24 invalid InvalidRFC822nameConstraints
        4.13.25 valid ValidRFC822nameConstraints
        4.13.26 invalid InvalidRFC822nameConstraints
        4.13.27 valid ValidDNandRFC822nameConstraints
        4.13.28 invalid InvalidDNandRFC822nameConstraints
        4.13.29 invalid InvalidDNandRFC822nameConstraints
        4.13.30 valid ValidDNSnameConstraints
        4.13.31 invalid InvalidDNSnameConstraints
        4.13.32 valid ValidDNSnameConstraints
        4.13.33 invalid InvalidDNSnameConstraints
        4.13.34 valid ValidURInameConstraints
        4.13.35 invalid InvalidURInameConstraints
        4.13.36 valid ValidURInameConstraints
        4.13.37 invalid InvalidURInameConstraints
        4.13.38 invalid InvalidDNSnameConstraints
        4.14.1 valid ValiddistributionPoint otherKindOfList
        4.14.2 list InvaliddistributionPoint
        4.14.3 list InvaliddistributionPoint
        4.14.4 valid ValiddistributionPoint otherKindOfList
        4.14.5 valid ValiddistributionPoint otherKindOfList
        4.14.6 list InvaliddistributionPoint
        4.14.7 valid ValiddistributionPoint otherKindOfList
        4.14.8 list InvaliddistributionPoint
        4.14.9 list InvaliddistributionPoint
        4.14.10 valid ValidNoissuingDistributionPoint
        4.14.11 list InvalidonlyContainsUserCerts
        4.14.12 list InvalidonlyContainsCACerts
        4.14.13 valid ValidonlyContainsCACerts otherKindOfList
        4.14.14 list InvalidonlyContainsAttributeCerts
        4.14.15 list InvalidonlySomeReasons
        4.14.16 list InvalidonlySomeReasons
        4.14.17 list InvalidonlySomeReasons
        4.14.18 valid ValidonlySomeReasons otherKindOfList
        4.14.19 valid ValidonlySomeReasons otherKindOfList
        4.14.20 list InvalidonlySomeReasons
        4.14.21 list InvalidonlySomeReasons
        4.14.22 valid ValidIDPwithindirectCRL otherKindOfList
        4.14.23 list InvalidIDPwithindirectCRL
        4.14.24 valid ValidIDPwithindirectCRL
        4.14.25 valid ValidIDPwithindirectCRL
        4.14.26 list InvalidIDPwithindirectCRL issuerWithoutList
        4.14.27 list InvalidcRLIssuer issuerWithoutList
        4.14.28 valid ValidcRLIssuer otherKindOfList
        4.14.29 valid ValidcRLIssuer otherKindOfList
        4.14.30 valid ValidcRLIssuer
        4.14.31 list InvalidcRLIssuer issuerWithoutList
        4.14.32 list InvalidcRLIssuer issuerWithoutList
        4.14.33 valid ValidcRLIssuer
        4.14.34 list InvalidcRLIssuer
        4.14.35 list InvalidcRLIssuer
        4.15.1 list InvaliddeltaCRLIndicatorNoBase deltaList
        4.15.2 valid ValiddeltaCRL
        4.15.3 list InvaliddeltaCRL
        4.15.4 list InvaliddeltaCRL deltaList
        4.15.5 valid ValiddeltaCRL deltaList
        4.15.6 list InvaliddeltaCRL
        4.15.7 valid ValiddeltaCRL
        4.15.8 valid ValiddeltaCRL
        4.15.9 list InvaliddeltaCRL
        4.15.10 list InvaliddeltaCRL
        4.16.1 valid ValidUnknownNotCriticalCertificateExtension
        4.16.2 invalid InvalidUnknownCriticalCertificateExtension
        """
}
