import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const program = `
const names = JSON.parse(process.argv[1])
require('node:http')
  .createServer((request, response) => response.end(request.method + ' ' + request.headers.host + request.url))
  .listen(8080, '0.0.0.0')
const dns = require('node:dgram').createSocket('udp4')
dns.on('message', (query, { port, address }) => {
  const labels = []
  let at = 12
  for (; query[at] > 0; at += query[at] + 1) labels.push(query.toString('latin1', at + 1, at + 1 + query[at]))
  const question = query.subarray(12, at + 5)
  const found = query.readUInt16BE(at + 1) === 1 ? names[labels.join('.')] : undefined
  const answer = found ? [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...found.split('.').map(Number)] : []
  const header = [query[0], query[1], 0x81, found ? 0x80 : 0x83, 0, 1, 0, found ? 1 : 0, 0, 0, 0, 0]
  dns.send(Buffer.concat([Buffer.from(header), question, Buffer.from(answer)]), port, address)
})
dns.bind(53, () => console.log('listening'))
`

/** An HTTP server and a DNS server outside a swarm, which its nodes and containers reach. */
export const startOutside = async (folder: string, names: Record<string, string>) => {
  const enter = ['--target', readFileSync(join(folder, 'switch'), 'utf8').trim(), '--net', '--']
  const child = spawn('nsenter', [...enter, process.execPath, '-e', program, JSON.stringify(names)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return { close: () => child.kill() }
}
