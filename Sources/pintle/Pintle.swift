// SPDX-License-Identifier: Apache-2.0

@main
enum Pintle {
    static func main() {}
}
