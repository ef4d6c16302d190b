import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { newId } from '#lib/service/kit/ids.ts'
import { makeContainerSpec } from '#lib/service/testing/boxes.ts'
import { ownDocker, sharedDocker, type TestDocker } from '#lib/service/testing/docker.ts'
import { hasDocker } from '#lib/service/testing/has-docker.ts'
import type { Box, BoxSpec, Command } from '../box.ts'
import { type ContainerEngine, createContainerEngine } from './container-engine.ts'
import { parseEngineAddress } from './engine-address.ts'
import { tar } from './tar.ts'

const giga = 2 ** 30

describe.skipIf(!hasDocker)('container engine', () => {
  let docker: TestDocker
  let folder: string
  let engine: ContainerEngine
  const serviceId = newId('svc')
  const engineOn = (on: TestDocker, id = serviceId) =>
    createContainerEngine({ address: parseEngineAddress(on.url, {}), serviceId: id, defaultImage: 'base' })

  beforeAll(async () => {
    docker = await sharedDocker()
    await docker.image('base')
    folder = await mkdtemp(join(tmpdir(), 'devdeck-containers-'))
    engine = engineOn(docker)
    await engine.recover(new Set(), () => true)
  })
  afterAll(async () => {
    await engine?.close()
    await rm(folder, { recursive: true })
  })

  const made: { engine: ContainerEngine; id: string }[] = []
  const specOf = (more: Partial<BoxSpec> = {}) => makeContainerSpec(folder, { serviceId, ...more })
  const start = async (more: Partial<BoxSpec> = {}, on = engine) => {
    const spec = specOf(more)
    made.push({ engine: on, id: spec.devboxId })
    const box = await on.start(spec, () => undefined)
    return { box, id: spec.devboxId, again: { ...more, devboxId: spec.devboxId, hasRun: true } }
  }
  afterEach(async () => {
    for (const { engine, id } of made.splice(0)) await engine.disks.remove(id)
  })

  const run = async (box: Box, script: string, more: Partial<Command> = {}) => {
    const process = await box.start({ argv: [box.shell, '-c', script], env: {}, ...more })
    const [stdout, stderr, status] = await Promise.all([text(process.stdout), text(process.stderr), process.exited])
    return { stdout, stderr, status }
  }

  describe('a command', () => {
    it('has its own output streams, exit status, environment and directory', async () => {
      const { box } = await start()
      expect(await run(box, 'echo "$A $PWD"; echo no >&2; exit 7', { env: { A: 'b c' }, cwd: '/usr' })).toEqual({
        stdout: 'b c /usr\n',
        stderr: 'no\n',
        status: 7,
      })
      expect((await run(box, 'kill -9 $$')).status).toBe(137)
      expect((await run(box, 'whoami; id -u; pwd; echo $HOME; hostname')).stdout).toBe(
        'user\n1000\n/home/user\n/home/user\nbox\n',
      )
    })

    it('passes binary output and standard input through, and sees its end', async () => {
      const { box } = await start()
      const process = await box.start({
        argv: ['/bin/sh', '-c', 'wc -c; head -c 3000000 /dev/zero'],
        env: {},
        stdin: true,
      })
      process.stdin?.write(Buffer.alloc(1_000_000, 7))
      process.stdin?.end('end')
      const output = await text(process.stdout)
      expect(output.slice(0, 8)).toBe('1000003\n')
      expect(output.length).toBe(8 + 3_000_000)
      expect(await process.exited).toBe(0)
    })

    it('waits for a slow reader', async () => {
      const { box } = await start()
      const process = await box.start({ argv: ['/bin/sh', '-c', 'yes | head -c 20000000; touch ~/done'], env: {} })
      let bytes = 0
      process.stdout.once('data', (chunk: Buffer) => {
        bytes = chunk.length
        process.stdout.pause()
      })
      await expect.poll(() => process.stdout.isPaused()).toBe(true)
      expect((await run(box, 'test -e ~/done')).status).toBe(1)
      process.stdout.on('data', (chunk: Buffer) => (bytes += chunk.length)).resume()
      expect(await process.exited).toBe(0)
      await expect.poll(() => bytes).toBe(20_000_000)
    })

    it("doesn't wait for background processes that hold its output", async () => {
      const { box } = await start()
      const process = await box.start({ argv: ['/bin/bash', '-c', 'sleep 1000 & echo one; exit 3'], env: {} })
      let output = ''
      process.stdout.on('data', (chunk) => (output += chunk))
      expect(await process.exited).toBe(3)
      await expect.poll(() => output).toBe('one\n')
      expect(process.stdout.readableEnded).toBe(false)
    })

    it('receives signals, alone or with its process group', async () => {
      const { box } = await start()
      const startTrap = async () => {
        const script =
          "trap 'echo caught; exit 9' TERM; (trap 'echo child; exit' TERM; echo ready; while :; do sleep 0.1; done) & while :; do sleep 0.1; done"
        const process = await box.start({ argv: ['/bin/bash', '-c', script], env: {} })
        let output = ''
        process.stdout.on('data', (chunk) => (output += chunk))
        await expect.poll(() => output).toBe('ready\n')
        return { process, output: () => output }
      }
      const alone = await startTrap()
      expect(await alone.process.kill('SIGTERM', 'process')).toBe(true)
      expect(await alone.process.exited).toBe(9)
      expect(alone.output()).toBe('ready\ncaught\n')
      expect(await alone.process.kill('SIGTERM', 'process')).toBe(false)
      const group = await startTrap()
      expect(await group.process.kill('SIGTERM', 'group')).toBe(true)
      expect(await group.process.exited).toBe(9)
      await expect.poll(() => group.output()).toMatch(/child/)
      const killed = await startTrap()
      expect(await killed.process.kill('SIGKILL', 'group')).toBe(true)
      expect(await killed.process.exited).toBe(137)
    })

    it("rejects if it can't start", async () => {
      const { box } = await start()
      await expect(box.start({ argv: ['/bin/sh'], env: {}, cwd: '/nowhere' })).rejects.toThrow(/nowhere/)
      expect((await run(box, 'exec /nothing')).status).toBe(127)
    })

    it('runs in an image with only a shell', async () => {
      const { box } = await start({ origin: { kind: 'image', image: await docker.image('busybox') } })
      expect(box).toMatchObject({ shell: '/bin/sh', bashrc: undefined })
      expect(await run(box, 'id -un; echo no >&2; exit 4')).toEqual({ stdout: 'user\n', stderr: 'no\n', status: 4 })
    })
  })

  it('refuses an image without a shell, and an unknown one, and leaves nothing', async () => {
    const image = await docker.image('empty')
    await expect(start({ origin: { kind: 'image', image } })).rejects.toThrow('The image has no /bin/sh')
    const missing = { kind: 'image', image: 'registry.invalid/none:1' } as const
    await expect(start({ origin: missing })).rejects.toThrow(/Image registry.invalid\/none:1 is not available: /)
    expect(await containers()).toEqual([])
  })

  const nameOf = (id: string, service = serviceId) => `devdeck-${service.slice(0, 12)}-${id}`
  const containers = async (service = serviceId) => {
    const filters = { label: [`devdeck.service=${service}`] }
    const found = await docker.api.json<{ Names: string[]; State: string }[]>('GET', '/containers/json', {
      query: { all: true, filters },
    })
    return found.map(({ Names, State }) => `${Names[0]?.slice(1)} ${State}`).sort()
  }

  describe('limits', () => {
    it('counts processes killed for lack of memory before their exit is reported', async () => {
      const { box } = await start({ limits: { cpuCores: 1, memoryBytes: 64 * 2 ** 20, diskBytes: giga } })
      expect((await run(box, 'python3 -c "bytearray(300 << 20)"')).status).toBe(137)
      expect(box.outOfMemoryKills()).toBe(1)
      expect((await run(box, 'echo still here')).stdout).toBe('still here\n')
    })

    it('limits processes, files and capabilities', async () => {
      const { box } = await start({ limits: { cpuCores: 1, memoryBytes: giga, diskBytes: 2 ** 20 } })
      const { stdout } = await run(
        box,
        'cat /sys/fs/cgroup/pids/pids.max /sys/fs/cgroup/pids.max 2>/dev/null; grep -E "CapBnd|NoNewPrivs|Seccomp:" /proc/self/status; head -c 2000000 /dev/zero >~/big; echo $?',
      )
      expect(stdout).toBe('1024\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n153\n')
      expect(box.notEnforced).toEqual([
        'Disk: 0 GB per file; total usage is measured and a devbox over the limit is suspended',
      ])
    })

    it('has no network by default, and one without other devboxes if public', async () => {
      const { box } = await start()
      expect((await run(box, 'ls /sys/class/net')).stdout).toBe('lo\n')
      const [one, two] = await Promise.all([start({ network: 'public' }), start({ network: 'public' })])
      const address = (await run(one.box, 'hostname -I')).stdout.trim()
      expect(address).toMatch(/^\d+\.\d+\.\d+\.\d+$/)
      const listen = 'import socket,time; s=socket.create_server(("", 8000)); time.sleep(1000)'
      await one.box.start({ argv: ['/usr/bin/python3', '-c', listen], env: {} })
      const dial = (host: string) =>
        `for i in $(seq 50); do timeout 1 bash -c "exec 3<>/dev/tcp/${host}/8000" 2>/dev/null && echo open && exit; [ "$1" ] || sleep 0.1; done; echo closed`
      expect((await run(one.box, dial(address))).stdout).toBe('open\n')
      const other = `timeout 2 bash -c "exec 3<>/dev/tcp/${address}/8000" 2>/dev/null && echo open || echo closed`
      expect((await run(two.box, other)).stdout).toBe('closed\n')
    })

    it('gives root of an image what apt needs, and no more', async () => {
      const { box } = await start({ user: { uid: 0, name: 'root' }, origin: { kind: 'image', image: 'base' } })
      expect(box.home).toBe('/root')
      expect(
        (await run(box, 'id -u; chown 1 /etc/hosts && echo owned; mount -t tmpfs x /mnt 2>/dev/null || echo refused'))
          .stdout,
      ).toBe('0\nowned\nrefused\n')
    })

    it('reports its usage', async () => {
      const { box } = await start()
      await box.start({ argv: ['/bin/sh', '-c', 'x=; while :; do x=; done'], env: {} })
      await expect.poll(async () => (await box.usage()).cpuSeconds).toBeGreaterThan(0.2)
      const { processes, memoryBytes } = await box.usage()
      expect(processes).toBeGreaterThanOrEqual(2)
      expect(memoryBytes).toBeGreaterThan(2 ** 16)
      expect(memoryBytes).toBeLessThan(giga)
      expect(await box.isDiskFull()).toBe(false)
    })
  })

  describe('a terminal', () => {
    const open = (box: Box, size = { cols: 100, rows: 30 }) => {
      let output = ''
      const ended = Promise.withResolvers<[number, string | undefined]>()
      const terminal = box.openTerminal(
        { argv: ['/bin/bash', '--norc', '-i'], env: { PS1: '> ', TERM: 'xterm-256color' } },
        size,
        {
          data: (bytes) => {
            output += Buffer.from(bytes).toString()
          },
          ended: (status, signal) => ended.resolve([status, signal]),
        },
      )
      const type = (text: string) => terminal.write(Buffer.from(text))
      const shows = (pattern: RegExp) => expect.poll(() => output, { timeout: 20_000 }).toMatch(pattern)
      return { terminal, type, shows, ended: ended.promise, output: () => output }
    }

    it('is a real one, with its size, job control and exit status', async () => {
      const { box } = await start()
      const { terminal, type, shows, ended, output } = open(box)
      type('tty; stty size; test -t 0 && echo te""rm\r')
      await shows(/\/dev\/pts\/\d+\r\n30 100\r\nterm\r\n/)
      expect(output()).not.toMatch(/^\d/)
      terminal.resize({ cols: 55, rows: 11 })
      await expect
        .poll(() => {
          type('stty size\r')
          return output()
        })
        .toMatch(/11 55\r\n/)
      type('sleep 1000; echo st""atus $?\r')
      await shows(/sleep 1000; echo/)
      await expect.poll(() => run(box, 'pgrep -x sleep | wc -l').then(({ stdout }) => stdout.trim())).toBe('2')
      type('\x03')
      await shows(/status 130\r\n|\^C/)
      type('sleep 1001\r')
      await expect.poll(() => run(box, 'pgrep -xf "sleep 1001" | wc -l').then(({ stdout }) => stdout.trim())).toBe('1')
      expect(await terminal.kill('SIGTERM', 'foreground')).toBe(true)
      await shows(/Terminated/)
      type('exit 5\r')
      expect(await ended).toEqual([5, undefined])
      expect(await terminal.kill('SIGTERM', 'process')).toBe(false)
    })

    it('reports what it still has to write, and a signal that killed it', async () => {
      const { box } = await start()
      const { terminal, type, shows, ended } = open(box)
      await shows(/> /)
      expect(terminal.pendingBytes).toBe(0)
      type('cat >/dev/null\r')
      type('x'.repeat(1000))
      const below = Promise.withResolvers<void>()
      terminal.onceBelow(0, below.resolve)
      await below.promise
      expect(terminal.pendingBytes).toBe(0)
      expect(await terminal.kill('SIGKILL', 'process')).toBe(true)
      expect(await ended).toEqual([0, 'SIGKILL'])
    })
  })

  describe('files and disks', () => {
    it('starts with a home of its user and the staged mounts', async () => {
      const devboxId = newId('dbx')
      const mounts = join(folder, devboxId, 'mounts')
      await mkdir(join(mounts, 'home/deep'), { recursive: true })
      await mkdir(join(mounts, 'tmp'), { recursive: true })
      await writeFile(join(mounts, 'home/deep/file'), 'mounted')
      await writeFile(join(mounts, 'tmp/other'), 'other')
      const { box } = await start({ devboxId, user: { uid: 1234, name: 'ada' } })
      const { stdout } = await run(
        box,
        'cat ~/deep/file /tmp/other; echo; stat -c "%U %a" ~ ~/deep/file ~/.bashrc /tmp; pwd',
      )
      expect(stdout).toBe('mountedother\nada 755\nada 644\nada 644\nroot 1777\n/home/ada\n')
    })

    it('keeps its disk while stopped, and never replaces a lost one', async () => {
      const { box, again, id } = await start()
      const { path } = await box.putRunFile('script', 'echo from file')
      expect((await run(box, `. ${path}; touch ~/kept /tmp/kept`)).stdout).toBe('from file\n')
      const ended = box.ended
      await box.stop()
      expect(await ended).toBeUndefined()
      const { box: second } = await start(again)
      expect((await run(second, `ls ~/kept /tmp/kept; ls ${second.run}`)).stdout).toBe('/home/user/kept\n/tmp/kept\n')
      expect(await engine.disks.usedBytes(id, new AbortController().signal)).toBeGreaterThan(0)
      await engine.disks.remove(id)
      expect((await second.ended)?.cause).toMatch(/removed/)
      await expect(start(again)).rejects.toThrow('its disk is missing from the container engine')
      expect(await containers()).toEqual([])
    })

    it('removes the image of an aborted snapshot once the engine has made it', async () => {
      const { box, id } = await start()
      await run(box, 'head -c 200000000 /dev/urandom >~/data')
      const state = async () =>
        (await docker.api.json<{ State: { Status: string } }>('GET', `/containers/${nameOf(id)}/json`)).State.Status
      const snapshotId = newId('snp')
      const abort = new AbortController()
      const taking = engine.disks.snapshot(id, snapshotId, abort.signal)
      await expect.poll(state, { interval: 10 }).toBe('paused')
      abort.abort()
      await expect(taking).rejects.toThrow(/aborted/)
      await engine.disks.removeSnapshot(snapshotId)
      await expect.poll(state, { timeout: 20_000 }).toBe('running')
      await expect.poll(() => engine.disks.hasSnapshot(snapshotId)).toBe(false)
    })

    it('keeps the users and files of an image behind symlinks', async () => {
      const root = { uid: 0, name: 'root' }
      const { box, id } = await start({ origin: { kind: 'image', image: await docker.image('busybox') }, user: root })
      const script = [
        'mkdir -p /var/home/user /var/run /var/tmp && echo old >/var/home/user/old && chmod 1777 /var/tmp',
        'echo app:x:7:7::/:/bin/sh >>/etc/passwd && mv /etc/passwd /var/passwd && ln -s ../var/passwd /etc/passwd',
        'rm -r /home /tmp /run; ln -s var/home /home; ln -s /var/tmp /tmp; ln -s /var/run /run; ls -l /',
      ]
      expect((await run(box, script.join('; '))).stdout).toMatch(/home -> .*run -> .*tmp -> /s)
      const snapshotId = newId('snp')
      await engine.disks.snapshot(id, snapshotId, new AbortController().signal)
      const { box: copy, again } = await start({ origin: { kind: 'snapshot', snapshotId } })
      const check =
        'cat ~/old; id -un app; id -un root; whoami; touch /tmp/new; for each in /home /run /tmp; do readlink $each; done'
      const seen = 'old\napp\nroot\nuser\nvar/home\n/var/run\n/var/tmp\n'
      expect((await run(copy, check)).stdout).toBe(seen)
      await copy.stop()
      const { box: resumed } = await start(again)
      expect((await run(resumed, 'cat ~/old; ls /var/tmp; readlink /run')).stdout).toBe('old\nnew\n/var/run\n')
      await engine.disks.removeSnapshot(snapshotId)
    })

    it('restores a snapshot of a running devbox', async () => {
      const { box, id } = await start()
      await run(box, 'echo snap >~/snap; head -c 1000000 /dev/urandom >~/data; echo mine >~/.bashrc')
      const snapshotId = newId('snp')
      const { sizeBytes } = await engine.disks.snapshot(id, snapshotId, new AbortController().signal)
      expect(sizeBytes).toBeGreaterThan(1_000_000)
      expect(sizeBytes).toBeLessThan(20_000_000)
      expect(await engine.disks.hasSnapshot(snapshotId)).toBe(true)
      await engine.disks.remove(id)
      const { box: copy, id: copyId } = await start({ origin: { kind: 'snapshot', snapshotId } })
      expect((await run(copy, 'cat ~/snap ~/.bashrc; wc -c <~/data; echo $DEVDECK_DEVBOX_ID')).stdout).toBe(
        `snap\nmine\n1000000\n${copyId}\n`,
      )
      await engine.disks.remove(copyId)
      await engine.disks.removeSnapshot(snapshotId)
      expect(await engine.disks.hasSnapshot(snapshotId)).toBe(false)
    })

    it('survives more commits than the engine allows layers, with owners, modes and the configuration of its image', async () => {
      const image = await deepImage('deep')
      const signal = new AbortController().signal
      let origin: BoxSpec['origin'] = { kind: 'image', image }
      for (const turn of [1, 2, 3]) {
        const { box, id } = await start({ origin, user: { uid: 0, name: 'root' } })
        await run(box, `echo ${turn} >>/turns; touch /app; chown 7:8 /app; chmod 4751 /app`)
        const snapshotId = newId('snp')
        await engine.disks.snapshot(id, snapshotId, signal)
        if (origin.kind === 'snapshot') await engine.disks.removeSnapshot(origin.snapshotId)
        origin = { kind: 'snapshot', snapshotId }
        await engine.disks.remove(id)
      }
      const { box } = await start({ origin, user: { uid: 0, name: 'root' } })
      const check = 'cat /turns; stat -c "%a %u:%g" /app; cat /deep; echo $KEPT'
      expect((await run(box, check)).stdout).toBe('1\n2\n3\n4751 7:8\n122\n"a $b"\n')
      if (origin.kind === 'snapshot') await engine.disks.removeSnapshot(origin.snapshotId)
      await engine.images.remove(image)
      const left = await docker.api.json<object[]>('GET', '/containers/json', {
        query: { all: true, filters: { name: ['devdeck-flatten'] } },
      })
      expect(left).toEqual([])
    })

    /** An image of 124 layers; 125 are allowed. */
    const deepImage = async (tag: string) => {
      const numbers = Array.from({ length: 123 }, (_, number) => `${number}`)
      const dockerfile = [
        `FROM ${await docker.image('busybox')}`,
        'ENV KEPT="\\"a \\$b\\""',
        ...numbers.map((number) => `COPY ${number} /deep`),
      ]
      const files = [
        { path: 'Dockerfile', content: dockerfile.join('\n') },
        ...numbers.map((number) => ({ path: number, content: `${number}\n` })),
      ]
      const context = Readable.from([tar(files.map((file) => ({ ...file, mode: 0o644 })))])
      const { signal } = new AbortController()
      await engine.images.build({ context, dockerfile: 'Dockerfile', tag, output: () => undefined, signal })
      return tag
    }
  })

  describe('a connection to a port', () => {
    it('reaches listeners on loopback, with half-closed connections', async () => {
      const { box } = await start()
      await expect(box.connect(7000)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
      const script =
        'import socket\ns=socket.create_server(("127.0.0.1",7000))\nprint("up",flush=True)\nc,_=s.accept()\nd=b""\nwhile p:=c.recv(65536): d+=p\nc.sendall(d[::-1])'
      const server = await box.start({ argv: ['/usr/bin/python3', '-c', script], env: {} })
      await new Promise((resolve) => server.stdout.once('data', resolve))
      const socket = await box.connect(7000)
      socket.write('a'.repeat(200_000))
      socket.end('bc')
      const answer = await text(socket)
      expect(answer.length).toBe(200_002)
      expect(answer.slice(0, 3)).toBe('cba')
    })

    it('ends inside when it is dropped', async () => {
      const { box } = await start()
      const script =
        'import socket\ns=socket.create_server(("127.0.0.1",7000))\nprint("up",flush=True)\nc,_=s.accept()\nopen("/tmp/open","w")\ns.accept()'
      const server = await box.start({ argv: ['/usr/bin/python3', '-c', script], env: {} })
      await new Promise((resolve) => server.stdout.once('data', resolve))
      const socket = await box.connect(7000)
      await expect.poll(async () => (await run(box, 'test -e /tmp/open && pgrep -c perl')).stdout).not.toBe('')
      socket.destroy()
      await expect.poll(async () => (await run(box, 'pgrep perl')).status).toBe(1)
    })

    it('works without perl and bash', async () => {
      const { box } = await start({ origin: { kind: 'image', image: await docker.image('busybox') } })
      await expect(box.connect(7000)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
      await box.start({ argv: ['/bin/sh', '-c', 'nc -ll -p 7000 -e cat'], env: {} })
      let socket: Awaited<ReturnType<Box['connect']>> | undefined
      await expect.poll(async () => (socket = await box.connect(7000).catch(() => undefined))).toBeDefined()
      socket?.end('hello')
      expect(await text(socket as NonNullable<typeof socket>)).toBe('hello')
    })
  })

  it('removes containers of ended devboxes at the start, stops all others, and leaves those of other services', async () => {
    const [first, other] = [newId('svc'), newId('svc')]
    const old = engineOn(docker, first)
    const stranger = engineOn(docker, other)
    for (const each of [old, stranger]) await each.recover(new Set(), () => true)
    const known = await start({ serviceId: first }, old)
    const ended = await start({ serviceId: first }, old)
    const unknown = await start({ serviceId: first }, old)
    await start({ serviceId: other }, stranger)
    await run(known.box, 'echo kept >~/kept')
    // A killed service stops nothing.
    const next = engineOn(docker, first)
    const logged = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    await next.recover(new Set([known.id]), (id) => id !== unknown.id)
    expect(logged.mock.calls.join()).toContain(`${nameOf(unknown.id, first)} belongs to no devbox`)
    logged.mockRestore()
    expect(new Set(await containers(first))).toEqual(
      new Set([known, unknown].map(({ id }) => `${nameOf(id, first)} exited`)),
    )
    expect(await containers(other)).toHaveLength(1)
    expect((await ended.box.ended)?.cause).toMatch(/outside/)
    const { box } = await start(known.again, next)
    expect((await run(box, 'cat ~/kept')).stdout).toBe('kept\n')
    await next.disks.remove(unknown.id)
    for (const each of [old, stranger, next]) await each.close()
  })

  it('reports a container that was removed from outside', async () => {
    const { box, id } = await start()
    const process = await box.start({ argv: ['/bin/sleep', '1000'], env: {} })
    await docker.api.json('DELETE', `/containers/${nameOf(id)}`, { query: { force: true } })
    expect((await box.ended)?.cause).toBe('The container was removed from outside')
    expect(await process.exited).toBe(137)
  })

  it('ends its devboxes when another engine is killed, and starts them again once it is back', async () => {
    const own = await ownDocker()
    const second = engineOn(own)
    try {
      await own.image('busybox')
      await second.recover(new Set(), () => true)
      const image = { kind: 'image', image: 'busybox' } as const
      const { box, id, again } = await start({ origin: image }, second)
      expect(await containers()).toEqual([])
      await run(box, 'echo kept >~/kept')
      const process = await box.start({ argv: ['/bin/sleep', '1000'], env: {} })
      const ended = Promise.withResolvers<number>()
      box.openTerminal(
        { argv: ['/bin/sh', '-i'], env: {} },
        { cols: 80, rows: 24 },
        { data: () => undefined, ended: ended.resolve },
      )
      own.kill()
      expect(await process.exited).toBe(137)
      await ended.promise
      expect((await box.ended)?.cause).toBe(`The container engine at ${own.url} stopped responding`)
      await expect(start({ origin: image }, second)).rejects.toThrow(/^The container engine at .* can't be reached: /)
      await box.stop()
      await own.revive()
      let revived: Box | undefined
      const restart = async () => (revived = await second.start(specOf(again), () => undefined).catch(() => undefined))
      await expect.poll(restart).toBeDefined()
      if (!revived) throw new Error('not started')
      expect((await run(revived, 'cat ~/kept')).stdout).toBe('kept\n')
      await second.disks.remove(id)
      const names = async () =>
        (await own.api.json<{ Names: string[] }[]>('GET', '/containers/json', { query: { all: true } })).flatMap(
          ({ Names }) => Names,
        )
      // At the latest when the lost connection is back.
      await expect.poll(names).toEqual([])
    } finally {
      await second.close()
      await own.close()
    }
  })
})
