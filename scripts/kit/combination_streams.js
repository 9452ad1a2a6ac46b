// SPDX-License-Identifier: Apache-2.0
// Sends requests as streams of one HTTP/2 connection to a listener with TLS, for `scripts/combinations`:
//   combination_streams.js PORT CA JSON
// JSON is a list of [headers, body]. Prints a list: [headers, body in base64] for an answer, a text for a complaint.
'use strict'
const fs = require('fs'), http2 = require('http2')

const [port, ca, requests] = process.argv.slice(2)
const session = http2.connect(`https://127.0.0.1:${port}`, { ca: fs.readFileSync(ca), servername: 'second.localhost' })
// Each stream tells of it.
session.on('error', () => {})
session.setTimeout(20000, () => session.destroy(new Error('no answer in time')))

function answered([headers, body]) {
    return new Promise((resolve) => {
        const stream = session.request(headers, { endStream: !body }), pieces = []
        let head = null
        stream.on('response', (fields) => { head = fields })
        stream.on('data', (piece) => pieces.push(piece))
        stream.on('end', () => { if (head) resolve([head, Buffer.concat(pieces).toString('base64')]) })
        stream.on('error', (error) => resolve(String(error)))
        stream.on('close', () => resolve('the stream ended without an answer'))
        if (body) stream.end(body)
    })
}

Promise.all(JSON.parse(requests).map(answered)).then((all) => {
    console.log(JSON.stringify(all))
    session.destroy()
})
