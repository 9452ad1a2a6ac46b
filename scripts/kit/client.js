// SPDX-License-Identifier: Apache-2.0
// node's own http and https, as `scripts/clients` uses them: node before 24 has no setting for a proxy, so requests are
// given to it the way that agents from npm do.
'use strict'
const fs = require('fs'), http = require('http'), https = require('https'), tls = require('tls')

const { PROXY, PLAIN, SECURE, CA, PAGE, INTERCEPTED, https_proxy } = process.env
// Where the proxy opens tunnels, the environment says where it is and whom to trust (NODE_EXTRA_CA_CERTS).
const page = fs.readFileSync(PAGE), ca = INTERCEPTED ? undefined : fs.readFileSync(CA)
const proxy = new URL(INTERCEPTED ? https_proxy : PROXY)
const agent = new http.Agent({ keepAlive: true, maxSockets: 2 })

function read(response) {
    return new Promise((resolve, reject) => {
        const pieces = []
        response.on('data', (piece) => pieces.push(piece))
        response.on('end', () => resolve(Buffer.concat(pieces)))
        response.on('aborted', () => reject(new Error('the answer was cut')))
    })
}

function send(module, options, body) {
    return new Promise((resolve, reject) => {
        const request = module.request(options, (response) => resolve(read(response)))
        request.on('error', reject)
        request.end(body)
    })
}

function forwarded(url, method = 'GET', body) {
    const host = new URL(url).host
    return send(http, { agent, host: proxy.hostname, port: proxy.port, method, path: url, headers: { host } }, body)
}

function tunnel(host) {
    return new Promise((resolve, reject) => {
        const request = http.request({ host: proxy.hostname, port: proxy.port, method: 'CONNECT', path: host })
        request.on('connect', (response, socket) => {
            if (response.statusCode === 200) resolve(socket)
            else reject(new Error(`CONNECT was answered with ${response.statusCode} ${response.statusMessage}`))
        })
        request.on('error', reject)
        request.end()
    })
}

async function tunnelled(url, method = 'GET', body) {
    const { host, hostname, pathname } = new URL(url)
    const socket = tls.connect({ socket: await tunnel(host), servername: hostname, ca })
    const answer = await send(https, { createConnection: () => socket, method, path: pathname, headers: { host } }, body)
    socket.destroy()
    return answer
}

function expect(value, wanted, what) {
    if (Buffer.compare(value, wanted) !== 0) throw new Error(`${what} is not what was expected`)
}

async function main() {
    const blob = Buffer.alloc(3 << 20, 'abc')
    const pages = await Promise.all(Array.from({ length: 20 }, () => forwarded(PLAIN + '/client/node/page')))
    for (const found of pages) expect(found, page, PLAIN)
    expect(await forwarded(PLAIN + '/echo', 'POST', blob), blob, 'an upload')
    expect(await tunnelled(SECURE + '/client/node/page'), page, SECURE)
    expect(await tunnelled(SECURE + '/echo', 'POST', blob), blob, 'an upload over https')
    agent.destroy()
    console.log(process.version)
}

main().catch((error) => {
    console.error(`node: ${error.message}`)
    process.exit(1)
})
