// SPDX-License-Identifier: Apache-2.0

import Testing

/// docs/afnetworking-tests.md has every test of AFNetworking, and the tests that it names are there.
struct ForeignTestPageTests {
    /// The number of test methods in each file: of 4.0.1; of 2.7.0, without those that 4.0.1 has; of the folder of version
    /// 1.
    private static let files = [
        "AFURLSessionManagerTests": 32, "AFHTTPSessionManagerTests": 41, "AFHTTPRequestSerializationTests": 16,
        "AFJSONSerializationTests": 16, "AFPropertyListRequestSerializerTests": 2,
        "AFHTTPResponseSerializationTests": 7, "AFXMLParserResponseSerializerTests": 5,
        "AFXMLDocumentResponseSerializerTests": 6, "AFPropertyListResponseSerializerTests": 5,
        "AFImageResponseSerializerTests": 4, "AFCompoundResponseSerializerTests": 3, "AFSecurityPolicyTests": 46,
        "AFNetworkReachabilityManagerTests": 9, "AFNetworkActivityManagerTests": 5, "AFImageDownloaderTests": 19,
        "AFAutoPurgingImageCacheTests": 16, "AFUIImageViewTests": 7, "AFUIButtonTests": 3,
        "AFUIActivityIndicatorViewTests": 3, "AFUIRefreshControlTests": 3, "AFWKWebViewTests": 4,
        "AFHTTPRequestOperationTests of version 2": 19, "AFURLSessionManagerTests of version 2": 2,
        "AFNetworkActivityManagerTests of version 2": 2, "AFSecurityPolicyTests of version 2": 4,
        "AFUIActivityIndicatorViewTests of version 2": 3, "AFUIRefreshControlTests of version 2": 2,
        "AFUIImageViewTests of version 2": 1, "AFHTTPClientTests of version 1": 23,
        "AFHTTPRequestOperationTests of version 1": 14, "AFURLConnectionOperationTests of version 1": 5,
        "AFJSONRequestOperationTests of version 1": 7, "AFImageRequestOperationTests of version 1": 11,
    ]

    private struct Row {
        let file: String
        let methods: [String]
        let proof: String
    }

    private static func rows() throws -> [Row] {
        var file = ""
        return try NamedTests.page("afnetworking-tests.md").compactMap { line in
            if let heading = line.wholeMatch(of: /### (.+) \(\d+\)/) { file = String(heading.1) }
            guard let row = line.wholeMatch(of: /\| (`.+`) \| .+? \| (.+) \|/) else { return nil }
            let methods = row.1.split(separator: ", ").map { String($0.trimmingPrefix("`").dropLast()) }
            return Row(file: file, methods: methods, proof: String(row.2))
        }
    }

    @Test func `every test of AFNetworking has one row`() throws {
        let rows = try Self.rows()
        for (file, count) in Self.files {
            let methods = rows.filter { $0.file == file }.flatMap(\.methods)
            #expect(methods.count == count && Set(methods).count == count, "\(file): \(methods.count)")
            #expect(methods.allSatisfy { $0.wholeMatch(of: /test\w+/) != nil }, "\(file)")
        }
        #expect(Set(rows.map(\.file)) == Set(Self.files.keys))
    }

    @Test func `every row has tests that are there, or a reason`() throws {
        let all = try NamedTests.all.get()
        for row in try Self.rows() {
            #expect(NamedTests.fault(in: row.proof, among: all) == nil, "\(row.methods.first ?? "")")
        }
    }
}
