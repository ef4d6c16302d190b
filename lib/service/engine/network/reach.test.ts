import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Client, createClient } from '#lib/client/client.ts'
import { ownAddresses, startOwnServer } from '#lib/service/testing/neighbor.ts'
import { runCommand } from '#lib/service/testing/process.ts'
import { writeTask } from '#lib/service/testing/trials.ts'
import { bubblewrapProblem } from '../bubblewrap/bubblewrap.ts'
import { hasDedicatedUsers } from '../bubblewrap/users.ts'
import { slirpProblem } from './outbound.ts'

const probe = readFileSync(join(import.meta.dirname, '../../testing/reach.py')).toString('base64')
const folder = mkdtempSync(join(tmpdir(), 'devdeck-reach-'))
const marker = `reach-test-${process.pid}`
const port = 7321

/** Listens on all addresses and on an abstract socket. */
const server = (word: string) => `exec -a ${marker} /usr/bin/env python3 -c '
import socket, threading
s = socket.create_server(("::", ${port}), family=socket.AF_INET6, dualstack_ipv6=True)
a = socket.socket(socket.AF_UNIX)
a.bind(b"\\0${marker}-inside")
a.listen()
open("/tmp/up", "w").close()
while True:
    c = s.accept()[0]
    c.sendall(b"${word}")
    c.close()
' ${marker}`

const hostAddresses = ownAddresses().map((address) => address.replace(/%.*/, ''))
const ownIpv4 = hostAddresses.filter((address) => !address.includes(':'))
const metadata = ['169.254.169.254', '100.100.100.200', '168.63.129.16', '192.0.0.192', 'fd00:ec2::254']
const embedded = ['::ffff:127.0.0.1', '::127.0.0.1', '64:ff9b::7f00:1', '2002:7f00:1::', '::ffff:169.254.169.254']
const addresses = [
  ...['127.0.0.1', '127.1', '2130706433', '127.9.9.9', '0.0.0.0', 'localhost', '::1', '::', '10.0.2.2'],
  ...[...hostAddresses, ...ownIpv4.map((address) => `::ffff:${address}`), ...metadata, ...embedded],
]

const command = (request: object) =>
  `echo ${Buffer.from(JSON.stringify(request)).toString('base64')} | base64 -d >/tmp/request; echo ${probe} | base64 -d >/tmp/reach.py; /usr/bin/env python3 -I /tmp/reach.py </tmp/request`

const machine = await startOwnServer()
const heard: string[] = []
const datagrams = createSocket('udp6')
datagrams.on('message', (bytes) => heard.push(String(bytes)))
await new Promise<void>((resolve) => datagrams.bind(0, '::', resolve))
const hostProcess = spawn(
  'python3',
  [
    '-c',
    `import socket, time; s = socket.socket(socket.AF_UNIX); s.bind(b"\\0${marker}-machine"); s.listen(); print(flush=True); time.sleep(1e6)`,
  ],
  { stdio: ['ignore', 'pipe', 'ignore'] },
)
await once(hostProcess.stdout, 'data')
afterAll(() => {
  hostProcess.kill()
  machine.close()
  datagrams.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
})

const problem = (await bubblewrapProblem()) ?? (hasDedicatedUsers() ? undefined : 'the tests do not run as root')
const withoutSlirp =
  '{ [ ! -e /usr/bin/slirp4netns ] || mount --bind /dev/null /usr/bin/slirp4netns; } && exec "$0" "$@"'
const ways = [
  { way: 'slirp4netns', through: [], lack: problem ?? slirpProblem() },
  { way: 'the proxy', through: ['unshare', '--mount', '/bin/sh', '-c', withoutSlirp], lack: problem },
]

describe.each(ways)('from inside, using $way', ({ way, through, lack }) => {
  const isSkipped = lack !== undefined
  const dataDir = join(folder, way.replaceAll(' ', '-'))
  const key = `ak_${marker}`
  let service: ReturnType<typeof runCommand>
  let client: Client
  let otherClient: Client
  let request: object
  const devboxIds: Record<string, string> = {}
  const run = async (id: string, words: string, of = client) => {
    const { stdout, stderr } = await of.executions.executeSync({ params: { id }, body: { command: words } })
    return `${stdout}${stderr}`.trim()
  }
  const serve = async (id: string, word: string, of = client) => {
    await of.executions.executeAsync({ params: { id }, body: { command: server(word) } })
    await run(id, 'until [ -e /tmp/up ]; do sleep 0.05; done', of)
  }

  beforeAll(async () => {
    if (isSkipped) return
    const tasks = join(folder, `tasks-${way.replaceAll(' ', '-')}`)
    writeTask(join(tasks, 'waits'), {
      'environment/Dockerfile': 'FROM debian\nWORKDIR /app\n',
      'solution/solve.sh': 'sleep 1000\n',
      'tests/test.sh': 'echo 1 >/logs/verifier/reward.txt\n',
    })
    const args = ['--port', '0', '--data-dir', dataDir, '--datasets', tasks, '--drain-seconds', '0']
    service = runCommand(args, { DEVDECK_API_KEYS: `one:${key},other:${key}-other` }, through)
    const baseUrl = await service.ready
    client = createClient({ baseUrl, headers: { authorization: `Bearer ${key}` } })
    otherClient = createClient({ baseUrl, headers: { authorization: `Bearer ${key}-other` } })
    const inline_yaml = 'n_attempts: 2\nn_concurrent_trials: 2\ntasks:\n  - path: waits\n'
    await client.benchmarkJobs.create({ body: { name: 'reach', spec: { type: 'harbor', inline_yaml } } })
    const [own, same, others] = await Promise.all([
      client.devboxes.createAndAwaitRunning({ body: {} }),
      client.devboxes.createAndAwaitRunning({ body: {} }),
      otherClient.devboxes.createAndAwaitRunning({ body: {} }),
    ])
    const areTrialsRunning = async () => {
      const { runs } = await client.scenarioRuns.list({ query: {} })
      const ids = runs.map(({ devbox_id }) => devbox_id)
      const found = await Promise.all(ids.map((id) => run(id, 'pgrep -fx "sleep 1000" || true').catch(() => '')))
      Object.assign(devboxIds, { trial: ids[0], 'other trial': ids[1] })
      return found.filter(Boolean).length === 2
    }
    await vi.waitUntil(areTrialsRunning, { timeout: 120_000, interval: 500 })
    Object.assign(devboxIds, { devbox: own.id, 'other devbox': same.id })
    await serve(others.id, 'other account', otherClient)
    request = {
      addresses,
      ports: [Number(new URL(baseUrl).port), machine.port, port],
      datagrams: datagrams.address().port,
      abstract: [`${marker}-machine`, `${marker}-inside`],
      markers: [marker, key, 'service/main.ts'],
      files: [dataDir, join(dataDir, 'devboxes'), join(dataDir, 'devboxes', others.id, 'home')],
    }
  })
  afterAll(async () => {
    if (isSkipped) return
    service.child.kill('SIGTERM')
    await service.ended
  })

  it.skipIf(isSkipped)('the attempts succeed without isolation', async () => {
    const child = spawn(
      '/bin/bash',
      ['-c', command({ ...request, addresses: ['127.0.0.1', '::1'], word: 'control' })],
      {
        env: { PATH: '/usr/bin:/bin', NODE_ENV: 'test' },
      },
    )
    let words = ''
    child.stdout.setEncoding('utf8').on('data', (text) => (words += text))
    await once(child, 'close')
    const reached: string[] = JSON.parse(words)
    expect(reached).toEqual(
      expect.arrayContaining([
        ...['127.0.0.1', '::1'].map((address) => `${address} ${machine.port}`),
        `127.0.0.1 ${new URL(await service.ready).port}`,
        `abstract socket ${marker}-machine`,
        '/proc cmdline of service/main.ts',
        dataDir,
      ]),
    )
    await expect
      .poll(() => heard)
      .toEqual(expect.arrayContaining(['control 127.0.0.1 ', 'control ::1 ', 'control 127.0.0.1 lo']))
  })

  it.skipIf(isSkipped).each([
    ['a devbox', 'devbox', 'other devbox'],
    ['a trial', 'trial', 'other trial'],
  ])('%s can only reach itself', async (_, place, other) => {
    await serve(devboxIds[other] ?? '', other)
    const id = devboxIds[place] ?? ''
    expect(await run(id, 'env | grep -c ^HTTP_PROXY=')).toBe(way === 'the proxy' ? '1' : '0')
    expect(JSON.parse(await run(id, command({ ...request, word: place })))).toEqual([])
    expect(heard.filter((words) => !words.startsWith('control'))).toEqual([])
    await serve(id, place)
    for (const [at, word] of [
      [id, place],
      [devboxIds[other] ?? '', other],
    ] as const)
      expect(await run(at, `for a in 127.0.0.1 ::1; do cat </dev/tcp/$a/${port}; echo; done`)).toBe(`${word}\n${word}`)
  })
})
