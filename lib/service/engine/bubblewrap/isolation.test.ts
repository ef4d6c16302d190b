import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { argv } from 'node:process'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findProcesses } from '#lib/service/engine/processes.ts'
import { readProc } from '#lib/service/kit/proc.ts'
import { makeLocalSpec, outputOf, startScript } from '#lib/service/testing/boxes.ts'
import type { LocalSpec } from '../local/launch.ts'
import type { LocalBox } from '../local/local-box.ts'
import { bubblewrapProblem, startBubblewrap } from './bubblewrap.ts'
import { hasDedicatedUsers } from './users.ts'

const folder = mkdtempSync(join(tmpdir(), 'devdeck-isolation-'))

const localSpecOf = (devboxId: string, more: Partial<LocalSpec> = {}) =>
  makeLocalSpec(folder, { devboxId, serviceId: 'isolation-test', ...more })

const syscall = (...call: (number | string)[]) =>
  `perl -e '@a = (${call.join(', ')}); $n = shift @a; print syscall($n, @a) == -1 ? "refused $!" : "done"'`

const problem = await bubblewrapProblem()

describe.skipIf(problem !== undefined)('an isolated devbox', () => {
  let one: LocalBox
  let other: LocalBox
  beforeAll(async () => {
    mkdirSync(join(folder, 'one', 'home', 'before'), { recursive: true })
    writeFileSync(join(folder, 'one', 'home', 'before', 'file'), 'kept')
    one = await startBubblewrap(localSpecOf('one'))
    other = await startBubblewrap(localSpecOf('other', { network: 'none', user: { uid: 1234, name: 'ada' } }))
  })
  afterAll(async () => {
    await Promise.all([one.stop(), other.stop()])
    rmSync(folder, { recursive: true })
  })

  describe.runIf(hasDedicatedUsers())('of a service that runs as root', () => {
    it('has a unique host user for its processes and disk', async () => {
      const process = await startScript(one, 'echo started; exec sleep 1000')
      await once(process.stdout, 'data')
      const findSleep = () =>
        findProcesses({ DEVDECK_SERVICE_ID: 'isolation-test', DEVDECK_DEVBOX_ID: 'one' }).find((pid) =>
          readProc(pid, 'cmdline')?.startsWith('sleep\0'),
        )
      await expect.poll(findSleep).toBeDefined()
      const sleeping = findSleep()
      const ids = /^Uid:\t(.*)\nGid:\t(.*)\nFDSize:.*\nGroups:[\t ]*(.*?)[\t ]*$/m.exec(
        readFileSync(`/proc/${sleeping}/status`, 'utf8'),
      )
      await process.kill('SIGKILL', 'group')
      const [uid] = ids?.[1]?.split('\t') ?? []
      expect(ids?.slice(1)).toEqual([Array(4).fill(uid).join('\t'), Array(4).fill(uid).join('\t'), ''])
      expect(Number(uid)).toBeGreaterThan(1_879_048_191)
      await outputOf(one, 'touch ~/made /tmp/made')
      await outputOf(other, 'touch ~/made')
      const owner = (...path: string[]) => String(statSync(join(folder, ...path)).uid)
      expect([owner('one', 'home', 'made'), owner('one', 'tmp', 'made'), owner('one', 'run')]).toEqual([uid, uid, uid])
      expect(owner('other', 'home', 'made')).not.toBe(uid)
    })

    it("owns its existing disk and can't read root's files", async () => {
      expect(await outputOf(one, 'cat ~/before/file; echo more >> ~/before/file; stat -c %U ~/before/file')).toBe(
        'keptuser',
      )
      expect(await outputOf(one, 'cat /proc/kmsg | head -c 1 | wc -c')).toMatch(/0$/)
      expect(await outputOf(one, '(exec 7<>/proc/sys/kernel/core_pattern) && echo open')).toMatch(/Permission denied/)
    })
  })

  it.each([
    ['a command', (box: LocalBox) => outputOf(box, 'cat /proc/self/status')],
    ['the init process', (box: LocalBox) => outputOf(box, 'cat /proc/1/status')],
    ['a child of a command', (box: LocalBox) => outputOf(box, 'setsid -w bash -c "cat /proc/self/status"')],
  ])('gives %s no capabilities and a seccomp filter', async (_, status) => {
    const lines = await status(one)
    expect(lines).toMatch(/^NoNewPrivs:\t1$/m)
    expect(lines).toMatch(/^Seccomp:\t2$/m)
    expect(lines.match(/^Cap(Inh|Prm|Eff|Amb):\t0{16}$/gm)).toHaveLength(4)
  })

  it.runIf(process.arch === 'x64')('blocks the filtered system calls and nothing that builds need', async () => {
    for (const [name, call] of Object.entries({
      mount: syscall(165, '"none"', '"/tmp"', '"tmpfs"', 0, 0),
      unshare: syscall(272, 0x10000000),
      setns: syscall(308, 0, 0),
      'clone into a user namespace': syscall(56, 0x10000011, 0, 0, 0, 0),
      keyctl: syscall(250, 0, -3, 1),
      bpf: syscall(321, 0, 0, 0),
      perf: syscall(298, 0, 0, -1, -1, 0),
      userfaultfd: syscall(323, 1),
      'open by handle': syscall(304, 0, 0, 0),
      'injecting terminal input': syscall(16, 0, 0x5412, '"x"'),
    }))
      expect([name, await outputOf(one, call)]).toEqual([name, 'refused Operation not permitted'])
    expect(await outputOf(one, syscall(425, 1, 0))).toBe('refused Function not implemented')
    expect(await outputOf(one, syscall(41, 40, 1, 0))).toMatch(/^refused Address family not supported/)
    const words = await outputOf(
      one,
      'python3 -c "import threading, subprocess, socket; t = threading.Thread(target=print, args=(1,)); t.start(); t.join(); socket.socket(); print(subprocess.check_output(\'id -u\', shell=True))"',
    )
    expect(words).toBe("1\nb'1000\\n'")
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
    const third = await startBubblewrap(localSpecOf('third', { root }))
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
    const process = await other.start({ argv: ['/bin/sleep', '4321'], env: {} })
    const seen = await outputOf(one, 'cat /proc/[0-9]*/cmdline | tr "\\0" " "')
    expect(seen).not.toContain('sleep 4321')
    expect(seen).not.toContain(String(argv[1]))
    await process.kill('SIGKILL', 'group')
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

  it("can't write to the service's terminal, or a file larger than its disk", async () => {
    expect(await outputOf(one, 'cut -d" " -f7 /proc/1/stat; (: >/dev/tty) && echo open')).toMatch(/^0\n(?!.*open)/s)
    expect(await outputOf(one, 'head -c 100M /dev/zero > big; stat -c %s big; rm big')).toContain(String(2 ** 24))
  })

  it("can't reach the host without a network", async () => {
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

  it('gains nothing from setuid programs', async () => {
    expect(await outputOf(one, 'findmnt -no TARGET,OPTIONS | grep -vw nosuid')).toBe('')
    expect(await outputOf(other, 'cp /usr/bin/id ~/id && chmod 4755 ~/id && ~/id -u')).toBe('1234')
  })

  it('sees only public and its own files in /etc', async () => {
    expect(await outputOf(one, 'ls -A /etc | grep -E "shadow|sudoers|crypttab|fstab|machine-id|cron"')).toBe('')
    expect(await outputOf(one, 'ls /etc/ssh /etc/ssl 2>/dev/null | grep -E "key|private"')).toBe('')
    expect(
      await outputOf(one, 'find / -xdev -path /proc -prune -o -perm /004 -o -type f -print 2>/dev/null | head -3'),
    ).toBe('')
    expect(await outputOf(one, 'touch /etc/x; echo x >> /etc/hosts; rm /etc/passwd')).not.toMatch(
      /^(?!.*(Read-only|denied|busy))/m,
    )
  })

  it.each([
    ['/nothing', 127],
    ['/etc', 126],
  ])("reports that %s isn't a program, with the shell's exit status", async (path, code) => {
    const { stderr, exited } = await one.start({ argv: [path], env: {} })
    const [words, exitCode] = await Promise.all([text(stderr), exited])
    expect([exitCode, words]).toEqual([code, expect.stringMatching(`^devdeck: ${path}: `)])
  })
})
