# SPDX-License-Identifier: Apache-2.0
"""The manual page pintle.yaml(5), from the JSON Schema of configurations that the program prints."""

import json

from commands import output
from roff import Page, bold, escaped, italic, prose, sentences

SWITCH = "on | off"
# Forms that have a name of their own in the schema.
NAMED = {
    "duration": "duration", "size": "size", "switch": SWITCH, "off": "off", "port": "port",
    "hostPattern": "host pattern", "destinationPattern": "destination pattern", "deniedDestination": "host pattern",
}
# Any text may be env:NAME or file:PATH, which the page says once.
UNSAID = {"indirect"}

VALUES = """
Durations have a unit: 250ms, 10s, 5m, 1h, 2d. Sizes are bytes, or have one: 64KiB, 8MiB, 1GiB. Any text may be env:NAME or file:PATH, \
which stand for the value of a variable and the text of a file. Relative paths are relative to the file.

Unknown keys, wrong types and contradictions are errors, with file, line and column. pintle check reads a file as pintle serve does.

A dot leads to a key of a map, [] to the entries of a list, and NAME is a name of your own.
"""


class Schema:
    def __init__(self, whole: dict):
        self.whole = whole

    def followed(self, schema: dict) -> dict:
        """The definition that a reference names, with what stands beside the reference."""
        if "$ref" not in schema:
            return schema
        definition = self.whole["$defs"][schema["$ref"].rpartition("/")[2]]
        return {**definition, **{key: value for key, value in schema.items() if key != "$ref"}}

    def alternatives(self, schema: dict) -> list[dict]:
        return [one for key in ("anyOf", "oneOf") for one in schema.get(key, []) if one.keys() - {"required"}]

    def forms(self, schema: dict) -> list[str]:
        """The forms that a value may have, in words."""
        name = schema.get("$ref", "").rpartition("/")[2]
        if name in UNSAID:
            return []
        if name in NAMED:
            return [NAMED[name]]
        schema = self.followed(schema)
        if "const" in schema:
            return [json.dumps(schema["const"]).strip('"')]
        if "enum" in schema:
            return [json.dumps(one).strip('"') for one in schema["enum"] if one is not None]
        found = [form for one in self.alternatives(schema) for form in self.forms(one)]
        types = schema.get("type", [])
        for kind in [types] if isinstance(types, str) else types:
            found += self.form(kind, schema)
        return list(dict.fromkeys(found))

    def form(self, kind: str, schema: dict) -> list[str]:
        if kind == "array":
            entries = self.forms(schema["items"]) if isinstance(schema.get("items"), dict) else []
            return [f"list of {' or '.join(entries)}" if entries and "map" not in entries else "list"]
        if kind == "integer" and "minimum" in schema and "maximum" in schema:
            return [f"{schema['minimum']} to {schema['maximum']}"]
        return {"object": ["map"], "string": ["text"], "boolean": ["true|false"], "null": []}.get(kind, ["number"])

    def keys(self, schema: dict, place: str = "") -> list[tuple[str, dict]]:
        """Every key below a value, with its place: trust.NAME.pins, routes[].match.hosts."""
        schema = self.followed(schema)
        found = []
        for name, value in schema.get("properties", {}).items():
            inner = f"{place}.{name}" if place else name
            found += [(inner, value), *self.keys(value, inner)]
        if isinstance(schema.get("items"), dict):
            found += self.keys(schema["items"], f"{place}[]")
        if isinstance(schema.get("additionalProperties"), dict):
            found += self.keys(schema["additionalProperties"], f"{place}.NAME")
        for one in self.alternatives(schema):
            # A list may be left out around its only entry, whose keys stand for those of the list.
            isRepeated = one.get("items") in self.alternatives(schema)
            found += [] if isRepeated else self.keys(one, place)
        # Several forms of one value may have the same key.
        return list(dict(reversed(found)).items())[::-1]


def entry(schema: Schema, place: str, value: dict) -> list[str]:
    forms = " | ".join(schema.forms(value))
    lines = [".TP", bold(place) + (f" {italic(forms)}" if forms else "")]
    lines += prose(schema.followed(value).get("description", ""))
    if "default" in value:
        lines += sentences(f"Default: {shown(value['default'], forms)}.")
    return lines


def shown(value: object, forms: str) -> str:
    """A default as a user would write it."""
    if isinstance(value, bool) and SWITCH in forms:
        return "on" if value else "off"
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)


def configuration(program: str, version: str) -> Page:
    schema = Schema(json.loads(output(program, "config", "schema")))
    page = Page("pintle.yaml", 5, "the configuration of pintle", version)
    page.section_of("SYNOPSIS", f".B pintle serve {escaped('-c')}", italic("pintle.yaml"))
    page.section_of("DESCRIPTION", *prose(VALUES))
    sections: dict[str, list[list[str]]] = {}
    for place, value in schema.keys(schema.whole):
        sections.setdefault(place.partition(".")[0].removesuffix("[]"), []).append(entry(schema, place, value))
    # Keys without further ones stand in front; each of the others has a part of its own.
    single = [lines for entries in sections.values() if len(entries) == 1 for lines in entries[0]]
    several = [
        line for name, entries in sections.items() if len(entries) > 1
        for line in (f".SS {escaped(name)}", *(line for lines in entries for line in lines))
    ]
    page.section_of("KEYS", *single, *several)
    page.section_of("SEE ALSO", ".BR pintle (1),", r".BR pintle\-check (1),", r".BR pintle\-explain (1)")
    return page
