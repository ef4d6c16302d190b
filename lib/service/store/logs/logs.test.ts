import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LogRecord } from '#lib/contract/logs.ts'
import { DevboxLogs } from './logs.ts'

let folder: string
let logs: DevboxLogs
const open = () => new DevboxLogs((id) => join(folder, id))
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'devdeck-logs-'))
  logs = open()
})
afterEach(async () => {
  await logs.flush()
  rmSync(folder, { recursive: true, force: true })
})

const record = (message: string): Omit<LogRecord, 'timestamp_ms'> => ({ level: 'info', source: 'files', message })
const messages = async (from = logs) => (await from.list('dbx', {})).map(({ message }) => message)
const run = (chunks: (string | Uint8Array)[], stream: 'stdout' | 'stderr' = 'stdout', exitCode = 0) => {
  const command = logs.command('dbx', { source: 'exec', cmd: 'a command', cmd_id: 'one', shell_name: 'main' })
  for (const chunk of chunks) command.output(stream, Buffer.from(chunk))
  command.end(exitCode)
}
const lines = async () => (await messages()).filter((message) => message !== undefined)

describe('records', () => {
  it('are read in order, also after a restart, from a private file', async () => {
    for (let i = 0; i < 100; i++) logs.append('dbx', record(`message ${i}`))
    const expected = Array.from({ length: 100 }, (_, i) => `message ${i}`)
    expect(await messages()).toEqual(expected)
    expect(await messages(open())).toEqual(expected)
    expect(statSync(join(folder, 'dbx/log/1.jsonl')).mode & 0o777).toBe(0o600)
  })

  it('survive a line truncated by a crash', async () => {
    mkdirSync(join(folder, 'dbx/log'), { recursive: true })
    writeFileSync(
      join(folder, 'dbx/log/1.jsonl'),
      `${JSON.stringify({ timestamp_ms: 1, ...record('whole') })}\n{"times`,
    )
    expect(await messages()).toEqual(['whole'])
    logs.append('dbx', record('after'))
    expect(await messages()).toEqual(['whole', 'after'])
  })

  it('are deleted oldest first with a note when the log is too long', async () => {
    const text = 'x'.repeat(4000)
    for (let i = 0; i < 8000; i++) {
      logs.append('dbx', record(`${i} ${text}`))
      if (i % 500 === 499) await logs.flush()
    }
    const all = await messages()
    expect(all[0]).toBe('Older records were deleted')
    expect(all.at(-1)).toBe(`7999 ${text}`)
    const numbers = all.slice(1).map((message) => Number(message?.split(' ')[0]))
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, i) => 8000 - numbers.length + i))
    const bytes = readdirSync(join(folder, 'dbx/log')).map((name) => statSync(join(folder, 'dbx/log', name)).size)
    expect(bytes).toHaveLength(2)
    expect(bytes.reduce((sum, size) => sum + size)).toBeLessThan(24 * 1024 * 1024)
  })

  it('are counted when the disk rejects them', async () => {
    // A file in place of the folder makes every write fail.
    mkdirSync(join(folder, 'dbx'))
    writeFileSync(join(folder, 'dbx/log'), '')
    logs.append('dbx', record('lost'))
    await logs.flush()
    rmSync(join(folder, 'dbx/log'))
    logs.append('dbx', record('kept'))
    expect(await messages()).toEqual(['kept', '1 earlier record could not be written'])
  })
})

describe('a command', () => {
  it('logs itself, its lines and its exit code', async () => {
    run(['one\ntwo', ' and a half\n\nlast'], 'stderr', 3)
    const about = { timestamp_ms: expect.any(Number), source: 'exec', cmd_id: 'one', shell_name: 'main' }
    expect(await logs.list('dbx', {})).toEqual([
      { ...about, level: 'info', cmd: 'a command' },
      ...['one', 'two and a half', '', 'last'].map((message) => ({ ...about, level: 'warn', message })),
      { ...about, level: 'error', exit_code: 3 },
    ])
  })

  it('cannot forge a record', async () => {
    const forged = JSON.stringify({ timestamp_ms: 1, level: 'info', source: 'kmsg', message: 'forged' })
    run([`${forged}\n\u0000\u001b[31m"\\\u2028\r\n`])
    expect(await lines()).toEqual([forged, '\u0000\u001b[31m"\\\u2028'])
  })

  it('may split a character between chunks and write invalid UTF-8', async () => {
    run([Buffer.from('a\xf0\x9f', 'latin1'), Buffer.from('\x98\x80\xff\n\xc3', 'latin1')])
    expect(await lines()).toEqual(['a😀\ufffd', '\ufffd'])
  })

  it('has long lines truncated between characters', async () => {
    run([`${'é'.repeat(4096)}\n`, 'a', 'é'.repeat(100_000), '\nshort\n'])
    expect(await lines()).toEqual(['é'.repeat(4096), `a${'é'.repeat(4095)} … (191810 more bytes)`, 'short'])
  })

  it('keeps the last state of a progress bar', async () => {
    const frames = Array.from({ length: 3000 }, (_, at) => `\r${at + 1}/3000 [####      ]`).join('')
    run([frames, '\nafter\n'])
    run(frames.match(/.{1,7}/gs) ?? [])
    const messages = (await lines()).filter((line) => !line?.startsWith('a '))
    expect(messages.map((message) => message?.split('\r').at(-1))).toEqual([
      '3000/3000 [####      ]',
      'after',
      '3000/3000 [####      ]',
    ])
    expect(messages[0]?.length).toBeLessThanOrEqual(8192)
  })

  it('keeps a long line followed by a carriage return without text', async () => {
    const long = 'x'.repeat(9000)
    run([`${long}\r\x1b[?25h\n`, `${long}\r`, `\x1b[0m\r`, `\n${long}\r\x1b[Kshort\n`, `${long}\r`, 'new', '\n'])
    run([`${'y'.repeat(20_000)}\r\x1b[0m\n`, `${'y'.repeat(20_000)}\rnew\n`])
    const got = await lines()
    for (const line of got.slice(0, 2)) expect(line).toMatch(/^x{8192} … \(\d+ more bytes\)$/)
    expect(got.slice(2)).toEqual(['\r\x1b[Kshort', '\rnew', `${'y'.repeat(8192)} … (11813 more bytes)`, '\rnew'])
  })

  it('stops logging output at the limit, and still logs its exit code', async () => {
    run(Array.from({ length: 100_000 }, (_, i) => `line ${i}\n`))
    const all = await logs.list('dbx', {})
    expect(statSync(join(folder, 'dbx/log/1.jsonl')).size).toBeLessThan(260 * 1024)
    expect(all.at(-2)?.message).toContain('limit of this command')
    expect(all.at(-1)?.exit_code).toBe(0)
    expect(all.slice(1, -2).map(({ message }) => message)).toEqual(
      Array.from({ length: all.length - 3 }, (_, i) => `line ${i}`),
    )
  })

  it('is found by id and by shell', async () => {
    run(['mine\n'])
    logs.command('dbx', { source: 'exec', cmd: 'other', cmd_id: 'two' }).end(0)
    logs.append('dbx', record('of the devbox'))
    expect(await logs.list('dbx', { execution_id: 'one' })).toHaveLength(3)
    expect(await logs.list('dbx', { shell_name: 'main' })).toHaveLength(3)
    expect(await logs.list('dbx', { execution_id: 'two', shell_name: 'main' })).toEqual([])
    expect(await logs.list('dbx', {})).toHaveLength(6)
  })
})

describe('following', () => {
  it('continues from stored to new records without loss or repeats, across deleted files', async () => {
    const text = 'x'.repeat(2000)
    for (let i = 0; i < 1000; i++) logs.append('dbx', record(`${i} ${text}`))
    const seen: number[] = []
    for await (const { message } of logs.follow(
      'dbx',
      {},
      new AbortController().signal,
      () => seen.length === 10_000,
    )) {
      seen.push(Number(message?.split(' ')[0]))
      if (seen.length <= 9000) {
        logs.append('dbx', record(`${999 + seen.length} ${text}`))
        // A file exceeds its limit by up to one batch: large batches would mean fewer files.
        if (seen.length % 100 === 0) await logs.flush()
      }
    }
    expect(seen).toEqual(Array.from({ length: 10_000 }, (_, i) => i))
    expect(readdirSync(join(folder, 'dbx/log'))).toEqual(['2.jsonl', '3.jsonl'])
  })

  it('ends after the last records of an ended devbox', async () => {
    let hasEnded = false
    const command = logs.command('dbx', { source: 'exec', cmd: 'sleep', cmd_id: 'one' })
    const seen: (string | null | undefined)[] = []
    for await (const { cmd, message, exit_code } of logs.follow(
      'dbx',
      {},
      new AbortController().signal,
      () => hasEnded,
    )) {
      seen.push(cmd ?? message ?? `${exit_code}`)
      if (cmd) {
        hasEnded = true
        logs.wake('dbx')
        setImmediate(() => {
          command.output('stdout', Buffer.from('last words'))
          command.end(137)
        })
      }
    }
    expect(seen).toEqual(['sleep', 'last words', '137'])
  })
})
