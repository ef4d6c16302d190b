import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { sharedDocker, type TestDocker } from '#lib/service/testing/docker.ts'
import { hasDocker } from '#lib/service/testing/has-docker.ts'
import type { BoxProcess, TerminalEvents } from '../box.ts'
import { ContainerBox } from './container-box.ts'
import { putFiles, serviceFiles } from './install.ts'

const owner = { uid: 1000, gid: 1000, home: '/tmp' }

describe.skipIf(!hasDocker)('in a container', () => {
  let docker: TestDocker
  let containerId: string

  const start = async (image: string): Promise<string> => {
    const body = { Image: await docker.image(image as 'base'), User: '1000:1000', Cmd: ['sleep', '1000'] }
    const { Id } = await docker.api.json<{ Id: string }>('POST', '/containers/create', { body })
    const facts = { passwd: '', group: '', hasBash: true, hasPerl: true, links: new Set<string>() }
    await putFiles(docker.api, Id, serviceFiles(facts, owner))
    await docker.api.json('POST', `/containers/${Id}/start`)
    return Id
  }

  /** Opens the container as a newly started service does. */
  const open = (id = containerId, hasPerl = true) =>
    new ContainerBox({
      api: docker.api,
      containerId: id,
      devboxId: 'dbx_1',
      cwd: '/',
      ...owner,
      hasBash: hasPerl,
      hasPerl,
      outlivesService: true,
      runsImage: false,
      env: {},
      notEnforced: [],
      onEnd: () => undefined,
      setOnline: async () => undefined,
    })

  beforeAll(async () => {
    docker = await sharedDocker()
    containerId = await start('base')
  }, 300_000)

  afterAll(async () => {
    await docker?.api.json('DELETE', `/containers/${containerId}`, { query: { force: true } })
  })

  const run = (box: ContainerBox, hold: string, script: string, stdin = false) =>
    box.start({ argv: ['/bin/bash', '-c', script], env: {}, hold, stdin })

  const readSome = async (process: BoxProcess, atLeast: number) => {
    let output = ''
    for await (const chunk of process.stdout.iterator({ destroyOnReturn: false })) {
      output += chunk
      if (output.length >= atLeast) return output
    }
    return output
  }

  test('a command continues at the byte where the last service stopped, and reports its exit', async () => {
    const lines = Array.from({ length: 100_000 }, (_, i) => `${i + 1}\n`).join('')
    const first = open()
    const process = await run(first, 'numbers', 'seq 100000; echo problem >&2; exit 7')
    let output = await readSome(process, 1)
    first.detach()
    for (const bytes of [70_000, 250_000]) {
      const box = open()
      const again = await box.survivors?.process('numbers', { stdout: output.length, stderr: 0 })
      expect(again?.held?.from.stdout).toBe(output.length)
      output += await readSome(again as BoxProcess, bytes)
      box.detach()
    }
    const last = open()
    const again = await last.survivors?.process('numbers', { stdout: output.length, stderr: 0 })
    const [rest, problem, status] = await Promise.all([
      text((again as BoxProcess).stdout),
      text((again as BoxProcess).stderr),
      again?.exited,
    ])
    expect({ isWhole: output + rest === lines, problem, status }).toEqual({
      isWhole: true,
      problem: 'problem\n',
      status: 7,
    })
    again?.held?.release()
    await until(async () => (await last.survivors?.process('numbers', { stdout: 0, stderr: 0 })) === undefined)
  })

  test('input, signals and resizes reach commands that an earlier service started', async () => {
    const first = open()
    await run(
      first,
      'input',
      'read -r a; echo "got $a"; trap "echo interrupted; exit 3" INT; while :; do sleep 0.1; done',
      true,
    )
    let shown = ''
    const events: TerminalEvents = {
      data: (bytes) => {
        shown += Buffer.from(bytes).toString()
      },
      ended: () => undefined,
    }
    const shell = first.openTerminal(
      { argv: ['/bin/bash', '--norc', '-i'], env: {}, hold: 'shell' },
      { cols: 90, rows: 20 },
      events,
    )
    shell.write(Buffer.from('x=kept; echo pid $$\n'))
    await until(async () => /^pid \d+\r$/m.test(shown))
    first.detach()
    const box = open()
    await box.survivors?.keepOnly(['input', 'shell'])
    const process = await box.survivors?.process('input', { stdout: 0, stderr: 0 })
    process?.stdin?.write('it\n')
    expect(await readSome(process as BoxProcess, 1)).toBe('got it\n')
    expect(await process?.kill('SIGINT', 'group')).toBe(true)
    expect(await process?.exited).toBe(3)
    let output = ''
    let start: object | undefined
    const ended = Promise.withResolvers<number>()
    const again = await box.survivors?.terminal('shell', {
      attached: (at) => {
        start = at
      },
      data: (bytes) => {
        output += Buffer.from(bytes).toString()
      },
      ended: ended.resolve,
    })
    expect(start).toEqual({ offset: 0, size: { cols: 90, rows: 20 }, inputBytes: 20 })
    const pid = /^pid (\d+)\r$/m.exec(output)?.[1]
    again?.resize({ cols: 70, rows: 10 })
    again?.write(Buffer.from('echo "$x $$ $(stty size)"; exit 5\n'))
    expect(await ended.promise).toBe(5)
    expect(output).toContain(`kept ${pid} 10 70`)
    box.detach()
  })

  test('without perl, commands and terminals of an earlier service are lost, and nothing else is', async () => {
    const id = await start('busybox')
    onTestFinished(() => docker.api.json('DELETE', `/containers/${id}`, { query: { force: true } }))
    const first = open(id, false)
    const background = 'sleep 4000 >/dev/null 2>&1 &'
    await (await first.start({ argv: ['/bin/sh', '-c', background], env: {} })).exited
    await first.start({ argv: ['/bin/sh', '-c', 'sleep 4001; true'], env: {}, hold: 'command' })
    const events: TerminalEvents = { data: () => undefined, ended: () => undefined }
    first
      .openTerminal({ argv: ['/bin/sh'], env: {}, hold: 'shell' }, { cols: 80, rows: 24 }, events)
      .write(Buffer.from('sleep 4002\n'))
    const sleeps = async () => {
      const { Processes } = await docker.api.json<{ Processes: string[][] }>('GET', `/containers/${id}/top`)
      return Processes.flatMap((process) => /sleep \d+$/.exec(process.at(-1) ?? '')?.[0] ?? []).sort()
    }
    await until(async () => (await sleeps()).length === 4)
    first.detach()
    const box = open(id, false)
    await box.survivors?.keepOnly(['command', 'shell'])
    expect(await box.survivors?.process('command', { stdout: 0, stderr: 0 })).toBeUndefined()
    await until(async () => (await sleeps()).length === 2)
    expect(await sleeps()).toEqual(['sleep 1000', 'sleep 4000'])
  })
})

const until = async (check: () => Promise<boolean>) => {
  while (!(await check())) await delay(20)
}
