# SPDX-License-Identifier: Apache-2.0
"""Writes a bill of materials, SPDX 2.3: `bill.py VERSION PACKAGE.RESOLVED LIBRARIES`.

It has the packages of Swift that the program was built from, and Debian's packages of the libraries that it loads; LIBRARIES is a
file with the paths of those. Identifiers follow from the content, so the same materials give the same bill."""

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
        "SPDXID": identifier(kind, name), "name": name, "versionInfo": version, "downloadLocation": location,
        "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
    }
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


def owner(path: str) -> str | None:
    """The Debian package of a file, which the database may have below / or below /usr."""
    for one in (path, f"/usr{path}", path.removeprefix("/usr")):
        found = subprocess.run(["dpkg-query", "-S", one], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.split(": ")[0].split(", ")[0]
    return None


def system_packages(libraries: str) -> list[dict]:
    with open(libraries) as file:
        names = {owner(path) for path in file.read().split()} - {None}
    made = []
    for name in sorted(names):
        form = "${Package}\t${Version}\t${Architecture}\t${source:Package}\t${source:Version}"
        fields = subprocess.run(["dpkg-query", "-W", "-f", form, name], check=True, capture_output=True, text=True)
        short, version, architecture, source, sourceVersion = fields.stdout.split("\t")
        one = package("Debian", short, version, "NOASSERTION", f"pkg:deb/debian/{short}@{version}?arch={architecture}")
        one["sourceInfo"] = f"made from the Debian source package {source} {sourceVersion}"
        one["supplier"] = "Organization: Debian"
        made.append(one)
    return made


def bill(version: str, resolved: str, libraries: str) -> dict:
    inside, beside = swift_packages(resolved), system_packages(libraries)
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
