import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeSandboxSpec, outputOf, startScript } from '#lib/service/testing/boxes.ts'
import { type Sandbox, spawnIn } from '../engine.ts'
import { bubblewrap } from './bubblewrap.ts'
import { hasDedicatedUsers } from './users.ts'

const folder = mkdtempSync(join(tmpdir(), 'devdeck-isolation-'))

const sandboxSpecOf = (devboxId: string) =>
  makeSandboxSpec(folder, { devboxId, serviceId: 'isolation-test', network: 'none' })

const syscall = (...call: (number | string)[]) =>
  `perl -e '@a = (${call.join(', ')}); $n = shift @a; print syscall($n, @a) == -1 ? "refused $!" : "done"'`

const problem = await bubblewrap.problem()

describe.skipIf(problem !== undefined)('an isolated devbox', () => {
  let one: Sandbox
  let other: Sandbox
  beforeAll(async () => {
    mkdirSync(join(folder, 'one', 'home', 'before'), { recursive: true })
    writeFileSync(join(folder, 'one', 'home', 'before', 'file'), 'kept')
    one = await bubblewrap.start(sandboxSpecOf('one'))
    other = await bubblewrap.start(sandboxSpecOf('other'))
  })
  afterAll(async () => {
    await Promise.all([one.stop(), other.stop()])
    rmSync(folder, { recursive: true })
  })

  describe.runIf(hasDedicatedUsers())('of a service that runs as root', () => {
    it('has a unique host user for its processes and disk', async () => {
      const child = startScript(one, 'echo started; exec sleep 1000')
      await once(child.stdout as Readable, 'data')
      const sleeping = one.leader(child.pid ?? 0)
      const ids = /^Uid:\t(.*)\nGid:\t(.*)\nFDSize:.*\nGroups:[\t ]*(.*?)[\t ]*$/m.exec(
        readFileSync(`/proc/${sleeping}/status`, 'utf8'),
      )
      child.kill()
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
    ['a command', (sandbox: Sandbox) => outputOf(sandbox, 'cat /proc/self/status')],
    ['the init process', (sandbox: Sandbox) => outputOf(sandbox, 'cat /proc/1/status')],
    ['a child of a command', (sandbox: Sandbox) => outputOf(sandbox, 'setsid -w bash -c "cat /proc/self/status"')],
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

  it('gains nothing from setuid programs', async () => {
    expect(await outputOf(one, 'findmnt -no TARGET,OPTIONS | grep -vw nosuid')).toBe('')
    const own = 'cp /usr/bin/id ~/id && chmod 4755 ~/id && ~/id -u'
    expect(await outputOf(other, own)).toBe('1000')
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
    const child = spawnIn(one.launch({ argv: [path], env: {} }), {
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
    })
    const [words, [exitCode]] = await Promise.all([text(child.stderr as Readable), once(child, 'exit')])
    expect([exitCode, words]).toEqual([code, expect.stringMatching(`^devdeck: ${path}: `)])
  })

  it('runs common tools', async () => {
    const tools = {
      git: 'cd /tmp && git init -q r && cd r && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m m && git log --format=%s',
      certificates: 'ls /etc/ssl/certs | grep -c . | grep -q "^[1-9]" && echo m',
      names: 'getent passwd user | cut -d: -f1 | sed s/user/m/; getent hosts localhost >/dev/null || echo no localhost',
      python3: 'python3 -c "import ssl, sqlite3, multiprocessing; print(chr(109))"',
      perl: 'perl -MPOSIX -e "print chr(109)"',
      top: 'TERM=xterm top -bn1 | grep -q "load average" && echo m',
      time: 'date -d @0 +%Y | sed s/1970/m/',
      shell: 'bash -lc "echo m"',
      hostname: 'sed s/one/m/ /etc/hostname',
      pipes: 'echo m | cat /dev/stdin',
    }
    for (const [name, script] of Object.entries(tools)) expect([name, await outputOf(one, script)]).toEqual([name, 'm'])
  })
})
