import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeSandboxSpec, outputOf } from '#lib/service/testing/boxes.ts'
import { type Sandbox, type SandboxSpec, spawnIn } from '../engine.ts'
import { bubblewrap } from './bubblewrap.ts'

const folder = mkdtempSync(join(tmpdir(), 'devdeck-sandbox-'))
const serviceId = 'sandbox-test'

const sandboxSpecOf = (devboxId: string, more: Partial<SandboxSpec> = {}) =>
  makeSandboxSpec(folder, { devboxId, serviceId, ...more })

const problem = await bubblewrap.problem()

describe.skipIf(problem !== undefined)('a bubblewrap sandbox', () => {
  let one: Sandbox
  let other: Sandbox
  beforeAll(async () => {
    one = await bubblewrap.start(sandboxSpecOf('one'))
    other = await bubblewrap.start(sandboxSpecOf('other', { network: 'none', user: { uid: 1234, name: 'ada' } }))
  })
  afterAll(async () => {
    await Promise.all([one.stop(), other.stop()])
    rmSync(folder, { recursive: true })
  })

  it('hides files of other devboxes and of the service, even through /proc', async () => {
    writeFileSync(join(folder, 'service.db'), 'secret')
    await outputOf(other, 'echo secret > ~/mine; echo secret > /tmp/mine; echo secret > /dev/shm/mine')
    const paths = [join(folder, 'service.db'), join(folder, 'other', 'home', 'mine'), '/tmp/mine', '/dev/shm/mine']
    expect(await outputOf(one, `cat ${paths.flatMap((path) => [path, `/proc/1/root${path}`]).join(' ')}`)).not.toMatch(
      /^secret/m,
    )
    expect(await outputOf(one, 'ls -A /home /sys /root /var/lib /run /boot /mnt')).toMatch(/^user$/m)
    expect(await outputOf(one, 'ls /run')).toBe('devdeck\ndevdeck-bashrc')
    expect(await outputOf(one, `ls ${folder} /root /sys /var/lib | cat`)).not.toMatch(/^(?!ls: cannot access)/m)
  })

  it('has its own top-level folders and can create more', async () => {
    const root = join(folder, 'third', 'root')
    for (const name of ['app', 'etc', 'usr']) mkdirSync(join(root, name), { recursive: true })
    writeFileSync(join(root, '.hidden'), '')
    const third = await bubblewrap.start(sandboxSpecOf('third', { root }))
    try {
      const script = 'mkdir /results; echo made | tee /app/a /results/b /c; ls -A / /etc/passwd; touch /usr/d /etc/d'
      const words = await outputOf(third, script)
      expect(words).toMatch(/^made$/m)
      expect(words).toMatch(/^\/etc\/passwd$/m)
      expect(words.match(/Read-only file system/g)).toHaveLength(2)
      expect(words).not.toMatch(/hidden/)
      expect(readFileSync(join(root, 'app', 'a'), 'utf8')).toBe('made\n')
      expect(readdirSync(root).sort()).toEqual(['.hidden', 'app', 'etc', 'usr'])
      expect(await outputOf(one, 'mkdir /results')).toMatch(/Read-only file system/)
    } finally {
      await third.stop()
    }
  })

  it('shows only its own processes', async () => {
    const child = spawnIn(other.launch({ argv: ['/bin/sleep', '1000'], env: {} }), {
      stdio: ['ignore', 'ignore', 'ignore'],
    })
    const seen = await outputOf(one, 'cat /proc/[0-9]*/cmdline | tr "\\0" " "')
    expect(seen).not.toContain('sleep 1000')
    expect(seen).not.toContain(String(process.argv[1]))
    child.kill()
  })

  it("can't change the host, even if the service runs as root", async () => {
    const modeOfNull = statSync('/dev/null').mode
    for (const attempt of [
      'touch /usr/x',
      'touch /etc/x',
      'touch /dev/x',
      'chmod 0 /dev/null',
      'chmod 0 /etc/hosts',
      'exec 7<>/proc/sys/kernel/core_pattern',
      'exec 7<>/proc/sys/vm/swappiness',
      'exec 7</proc/kpageflags',
      'cat /etc/shadow > ~/shadow; test -s ~/shadow',
    ])
      expect(await outputOf(one, `(${attempt}) && echo done`), attempt).not.toMatch(/done$/)
    expect(statSync('/dev/null').mode).toBe(modeOfNull)
    expect(await outputOf(one, 'echo lost > /dev/null && echo written')).toBe('written')
  })

  it('runs as the requested user with its own home', async () => {
    expect(await outputOf(one, 'id -un; id -u; echo $HOME $USER; pwd; hostname')).toBe(
      'user\n1000\n/home/user user\n/home/user\none',
    )
    expect(await outputOf(other, 'id -un; id -u; echo $HOME $USER; pwd; touch x && stat -c %U x')).toBe(
      'ada\n1234\n/home/ada ada\n/home/ada\nada',
    )
  })

  it("can't write to the service's terminal", async () => {
    expect(await outputOf(one, 'cut -d" " -f7 /proc/1/stat; (: >/dev/tty) && echo open')).toMatch(/^0\n(?!.*open)/s)
  })

  it('limits a file to the disk size', async () => {
    expect(await outputOf(one, 'head -c 100M /dev/zero > big; stat -c %s big; rm big')).toContain(String(2 ** 24))
  })

  describe('without a network', () => {
    it("can't reach the host", async () => {
      const server = createServer((socket) => socket.end('the host')).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address() as { port: number }
      const dial = `cat < /dev/tcp/127.0.0.1/${port}`
      expect(await outputOf(one, dial)).toContain('refused')
      expect(await outputOf(other, dial)).toContain('refused')
      await expect(other.connect(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
      expect(await outputOf(other, 'tail -n +3 /proc/net/dev | cut -d: -f1')).toBe('lo')
      server.close()
    })
  })
})
