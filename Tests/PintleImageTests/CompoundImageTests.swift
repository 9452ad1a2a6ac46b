// SPDX-License-Identifier: Apache-2.0

import PintleImage
import PintleMessage
import PintleSerialization
import Testing

/// Images beside other formats in one list.
@Suite struct CompoundImageTests {
    @Test func `CMP-01 of an image and a JSON serializer the one that takes the response wins`() throws {
        let compound = CompoundResponseSerializer([
            ImageResponseSerializer(checker: try ImageDecoder()).map { "image \($0?.size.width ?? 0)" },
            JSONResponseSerializer().map { "JSON \($0?["key"]?.text ?? "")" },
        ])
        let decode = { (type: String, body: [UInt8]) in
            try compound.decode(
                ResponseHead(status: 200, fields: ["Content-Type": type]), body: body, requestMethod: "GET")
        }
        #expect(try decode("application/json", Array(#"{"key":"value"}"#.utf8)) == .value("JSON value"))
        #expect(try decode("image/png", ImageSamples.png) == .value("image 3"))
    }
}
