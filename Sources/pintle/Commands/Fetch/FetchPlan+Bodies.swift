// SPDX-License-Identifier: Apache-2.0

internal import PintleImage
internal import PintleSerialization

extension FetchPlan.BodyExpectation {
    /// Returns the rule of a contract for this body.
    ///
    /// - Throws: ``CommandFailure`` with `incomplete` if this system cannot decode images.
    func rule() throws(CommandFailure) -> ResponseContract.BodyRule {
        switch self {
        case .json: return .json(.init())
        case .xml: return .xml(XMLScanner())
        case .plist: return .propertyList
        case .image:
            do throws(ImageError) {
                return .image(ResponseContract.ImageRule(try ImageDecoder()))
            } catch {
                throw CommandFailure(.incomplete, "pintle fetch: --expect-body image: \(error)")
            }
        }
    }
}
