// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

/// A value of an OpenAPI document, and its place.
struct OpenAPIElement {
    let value: Parameter
    let place: SchemaPlace
    /// The place, for messages.
    let location: String
    /// The name in the object around it.
    var key = ""

    init(value: Parameter, document: Int, pointer: String, name: String, key: String = "") {
        self.value = value
        self.place = SchemaPlace(document, pointer)
        self.location = "\(name)#\(pointer)"
        self.key = key
    }

    private func child(_ value: Parameter, _ pointer: String, key: String) -> OpenAPIElement {
        let name = self.location.dropLast(self.place.pointer.string.count + 1)
        return OpenAPIElement(
            value: value, document: self.place.document, pointer: pointer, name: String(name), key: key)
    }

    func refusal(_ sentence: String) -> SchemaError { SchemaError(self.location, sentence) }

    func child(_ key: String) -> OpenAPIElement? {
        self.value[key].map { self.child($0, JSONPointer.child(of: self.place.pointer.string, key), key: key) }
    }

    /// The members of an object.
    func children() throws(SchemaError) -> [OpenAPIElement] {
        guard case .dictionary(let entries) = self.value else {
            throw self.refusal("must be an object, is \(Wording.value(self.value)); write names with values")
        }
        return entries.map {
            self.child($0.value, JSONPointer.child(of: self.place.pointer.string, $0.key), key: $0.key)
        }
    }

    /// The elements of an array.
    func elements() throws(SchemaError) -> [OpenAPIElement] {
        guard case .array(let elements) = self.value else {
            throw self.refusal("must be an array, is \(Wording.value(self.value)); write a list")
        }
        return elements.enumerated().map {
            self.child($0.element, JSONPointer.child(of: self.place.pointer.string, $0.offset), key: "")
        }
    }

    func text(_ key: String) throws(SchemaError) -> String? {
        guard case .dictionary = self.value else {
            throw self.refusal("must be an object, is \(Wording.value(self.value)); write names with values")
        }
        guard let child = self.child(key) else { return nil }
        guard case .string(let text) = child.value else {
            throw child.refusal("must be a string, is \(Wording.value(child.value)); put it in quotes")
        }
        return text
    }

    func flag(_ key: String) throws(SchemaError) -> Bool {
        guard let child = self.child(key) else { return false }
        guard case .bool(let flag) = child.value else {
            throw child.refusal("must be true or false, is \(Wording.value(child.value)); write one of them")
        }
        return flag
    }
}
