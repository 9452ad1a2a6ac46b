// SPDX-License-Identifier: Apache-2.0

// The whole library under one name: a program writes `import Pintle` and nothing else.
@_exported import PintleHTTPCache
@_exported import PintleImage
@_exported import PintleMessage
@_exported import PintleReachability
@_exported import PintleSerialization
@_exported import PintleSession
@_exported import PintleStorage
@_exported import PintleTelemetry
@_exported import PintleTrust
@_exported import PintleWebSocket

@_exported import struct NIOCore.ByteBuffer
