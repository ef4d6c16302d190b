import { execFileSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findProcesses } from '#lib/service/engine/processes.ts'
import { readProc } from '#lib/service/kit/proc.ts'
import { makeLocalSpec, outputOf } from '#lib/service/testing/boxes.ts'
import { ownAddresses, startNeighbor, startOwnServer } from '#lib/service/testing/neighbor.ts'
import { bubblewrapProblem, startBubblewrap } from '../bubblewrap/bubblewrap.ts'
import type { LocalSpec } from '../local/launch.ts'
import type { LocalBox } from '../local/local-box.ts'
import { slirpProblem } from './outbound.ts'

const folder = mkdtempSync(join(tmpdir(), 'devdeck-outbound-'))
const serviceId = `outbound-${process.pid}`

const start = (devboxId: string, more: Partial<LocalSpec> = {}, report?: (sentence: string) => void) =>
  startBubblewrap(makeLocalSpec(folder, { devboxId, serviceId, ...more }), report)

const call = (address: string, port: number) =>
  `exec 3<>/dev/tcp/${address}/${port} && printf 'GET /x HTTP/1.0\\r\\nHost: h\\r\\n\\r\\n' >&3 && timeout 10 tail -n 1 <&3`

/** Bypasses the routes by binding to the interface. */
const callBound = (address: string, port: number) => `/usr/bin/env python3 - <<'END'
import socket
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
    s = socket.socket(socket.AF_INET, kind)
    s.settimeout(2)
    try:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"tap0")
        s.connect(("${address}", ${port}))
        if kind == socket.SOCK_STREAM:
            print("connected")
        else:
            s.send(b"from-a-devbox")
    except OSError as e:
        print(e)
END`

const problem = (await bubblewrapProblem()) ?? slirpProblem()
const neighbor = problem === undefined ? await startNeighbor() : undefined
const machine = await startOwnServer()
afterAll(() => {
  neighbor?.close()
  machine.close()
  rmSync(folder, { recursive: true })
})

describe.skipIf(problem !== undefined)('a devbox with a network', () => {
  let box: LocalBox
  beforeAll(async () => {
    box = await start('one')
  })
  afterAll(() => box.stop())

  it("can't change its routes", async () => {
    const words = await outputOf(
      box,
      'ip route del unreachable 10.0.0.0/8; ip link set tap0 down; unshare -Urn true; ip xfrm policy flush; ip route',
    )
    expect(words).toMatch(/not permitted/)
    expect(words).toMatch(/^unreachable 10\.0\.0\.0\/8/m)
    expect(words).toMatch(/^default via 10\.0\.2\.2 dev tap0/m)
  })

  it('restarts its network process', async () => {
    const stack = () =>
      findProcesses({ DEVDECK_SERVICE_ID: serviceId, DEVDECK_DEVBOX_ID: 'one' }).filter((pid) => {
        return readProc(pid, 'cmdline')?.split('\0')[0]?.endsWith('slirp4netns')
      })
    const [first = 0] = stack()
    process.kill(first, 'SIGKILL')
    await expect.poll(stack).not.toContain(first)
    await expect.poll(() => outputOf(box, 'ip route')).toMatch(/^default via/m)
  })

  it.runIf(process.getuid?.() === 0)("leaves the host's shared mounts in place", async () => {
    const shared = join(folder, 'shared')
    const inner = join(shared, 'inner')
    const tmpfs = (path: string) => {
      mkdirSync(path)
      execFileSync('mount', ['-t', 'tmpfs', 'none', path])
    }
    tmpfs(shared)
    execFileSync('mount', ['--make-shared', shared])
    tmpfs(inner)
    const other = await start('beside-shared')
    try {
      expect(readFileSync('/proc/self/mounts', 'utf8')).toContain(` ${inner} `)
    } finally {
      await other.stop()
      execFileSync('umount', ['--recursive', shared])
    }
  })

  describe.skipIf(neighbor === undefined)('next to another host', () => {
    const { address, own, privateAddress, port } = neighbor ?? { address: '', own: '', privateAddress: '', port: 0 }

    it('reaches a public address but no private one', async () => {
      expect(await outputOf(box, call(address, port))).toBe('GET h/x 0')
      expect(await outputOf(box, call(privateAddress, port))).toMatch(/No route to host/)
      expect(await outputOf(box, call(own, machine.port))).toMatch(/No route to host/)
      expect(await outputOf(box, callBound(privateAddress, port))).not.toContain('connected')
      await outputOf(box, callBound('239.9.9.9', port))
      const hostSocket = createSocket('udp4').bind(0, own)
      await once(hostSocket, 'listening')
      hostSocket.setMulticastInterface(own)
      await expect
        .poll(() => {
          hostSocket.send('from the host', port, '239.9.9.9')
          return neighbor?.heard()
        })
        .toContain('datagram from the host')
      hostSocket.close()
      expect(neighbor?.heard().replaceAll('datagram from the host', '')).not.toContain('datagram')
    })

    it('reaches private addresses if allowed, but not the host', async () => {
      const other = await start('other', { privateNetwork: true })
      try {
        expect(await outputOf(other, call(privateAddress, port))).toBe('GET h/x 0')
        for (const hostAddress of ownAddresses(neighbor?.near).filter(
          (one) => !one.includes(':') && !one.startsWith('127.'),
        ))
          expect(await outputOf(other, call(hostAddress, machine.port)), hostAddress).toMatch(/No route to host/)
      } finally {
        await other.stop()
      }
    })
  })
})
