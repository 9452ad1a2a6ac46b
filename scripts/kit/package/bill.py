# SPDX-License-Identifier: Apache-2.0
"""Writes a bill of materials, SPDX 2.3: `bill.py VERSION SWIFT PACKAGE.RESOLVED LIST`.

It has the runtime and the packages of Swift that the program was built from, and Debian's packages of the libraries that it loads.
SWIFT is the version of Swift, empty if it is not known, and LIST a file with the names of Debian's packages. Identifiers follow from the content, so the same materials give the same bill."""

import datetime
import hashlib
import json
import os
import re
import subprocess
import sys


def identifier(kind: str, name: str) -> str:
    return f"SPDXRef-{kind}-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def package(kind: str, name: str, version: str, location: str, reference: str | None) -> dict:
    made = {
        "SPDXID": identifier(kind, name), "name": name, "downloadLocation": location, "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION",
    }
    if version:
        made["versionInfo"] = version
    if reference:
        made["externalRefs"] = [
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": reference}
        ]
    return made


def swift_packages(resolved: str) -> list[dict]:
    with open(resolved) as file:
        pins = json.load(file)["pins"]
    made = []
    for pin in pins:
        location, state = pin["location"].removesuffix(".git"), pin["state"]
        made.append(package(
            "Swift", pin["identity"], state["version"], f"git+{location}@{state['revision']}",
            f"pkg:swift/{location.removeprefix('https://')}@{state['version']}"))
    return made


def runtime(version: str) -> dict:
    made = package("Toolchain", "swift", version, "https://www.swift.org", None)
    made["licenseDeclared"] = "Apache-2.0 WITH Swift-exception"
    made["description"] = "The runtime of Swift and FoundationEssentials."
    return made


def system_packages(names: list[str]) -> list[dict]:
    made = []
    for name in names:
        form = "${Package}\t${Version}\t${Architecture}\t${source:Package}\t${source:Version}"
        fields = subprocess.run(["dpkg-query", "-W", "-f", form, name], check=True, capture_output=True, text=True)
        short, version, architecture, source, sourceVersion = fields.stdout.split("\t")
        one = package("Debian", short, version, "NOASSERTION", f"pkg:deb/debian/{short}@{version}?arch={architecture}")
        one["sourceInfo"] = f"made from the Debian source package {source} {sourceVersion}"
        one["supplier"] = "Organization: Debian"
        made.append(one)
    return made


def bill(version: str, swift: str, resolved: str, names: str) -> dict:
    with open(names) as file:
        inside, beside = [runtime(swift), *swift_packages(resolved)], system_packages(file.read().split())
    program = package("Program", "pintle", version, "NOASSERTION", None)
    program["licenseConcluded"] = program["licenseDeclared"] = "Apache-2.0"
    program["primaryPackagePurpose"] = "APPLICATION"
    kinds = [(inside, "STATIC_LINK"), (beside, "DYNAMIC_LINK")]
    packages = [program, *inside, *beside]
    digest = hashlib.sha256(json.dumps(packages, sort_keys=True).encode()).hexdigest()
    moment = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"pintle-{version}",
        "documentNamespace": f"urn:pintle:bill:{version}:{digest}",
        "creationInfo": {"created": moment.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: pintle-scripts-package"]},
        "packages": packages,
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": program["SPDXID"]},
            *({"spdxElementId": program["SPDXID"], "relationshipType": kind, "relatedSpdxElement": one["SPDXID"]}
              for group, kind in kinds for one in group),
        ],
    }


if __name__ == "__main__":
    json.dump(bill(*sys.argv[1:]), sys.stdout, indent=2)
    print()
