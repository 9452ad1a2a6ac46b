# SPDX-License-Identifier: Apache-2.0
"""The commands of build servers' files."""

import yaml

# The step that fetches the package; scripts/try-packages installs it.
INSTALLS = "Install Pintle"


def scripts(name, text):
    """Names and commands of the steps of a workflow of GitHub or a pipeline of GitLab; none for other files."""
    if name.startswith(".github/workflows/"):
        for job in yaml.safe_load(text)["jobs"].values():
            for step in job["steps"]:
                if "run" in step and step.get("name") != INSTALLS:
                    yield step.get("name", step["run"]), with_variables("GITHUB_ACTIONS=true", step["run"])
    if name == ".gitlab-ci.yml":
        for job, body in yaml.safe_load(text).items():
            if isinstance(body, dict) and "script" in body:
                yield job, with_variables("GITLAB_CI=true", "\n".join(body["script"]))


def with_variables(variables, script):
    return f"set -e; export {variables}\n{script}"
