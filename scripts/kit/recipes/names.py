# SPDX-License-Identifier: Apache-2.0
"""The names in recipes, and the addresses of loopback that they lead to in the network of a page."""

# A proxy for other machines refuses private addresses, so public names have one that is none.
PUBLIC = "44.0.0.1"
INSIDE = "10.20.0.1"
PUBLIC_NAMES = [
    "api.example.com", "packages.example.com", "telemetry.example.net", "models.example.com", "www.example.org",
]
INSIDE_NAMES = ["wiki.corp.example", "proxy.corp.example", "pintle.corp.example"]
LOCAL_NAMES = ["web.localhost", "users.localhost", "orders.localhost", "chat.localhost", "prices.localhost"]
ADDRESSES = {name: PUBLIC for name in PUBLIC_NAMES} | {name: INSIDE for name in INSIDE_NAMES}
