// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

extension FetchPlan.BodyExpectation {
    var rule: ResponseContract.BodyRule {
        switch self {
        case .json: .json(JSONScanner())
        case .xml: .xml(XMLScanner())
        case .plist: .propertyList
        }
    }
}
