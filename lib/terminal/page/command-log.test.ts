import headless from '@xterm/headless'
import { beforeEach, expect, it } from 'vitest'
import type { TerminalMark } from '#lib/protocol/terminals.ts'
import { CommandLog, type MarkedTerminal } from './command-log.ts'

let terminal: InstanceType<typeof headless.Terminal>
let log: CommandLog
let changes: number

const open = (cols = 40) => {
  terminal = new headless.Terminal({ cols, rows: 8, scrollback: 20, allowProposedApi: true })
  changes = 0
  log = new CommandLog(terminal as unknown as MarkedTerminal, () => {
    changes += 1
  })
}
beforeEach(() => open())

const write = (text: string) => new Promise<void>((resolve) => terminal.write(text, resolve))
const mark = (code: string) => `\x1b]133;${code}\x07`
const prompt = `${mark('A')}$ ${mark('B')}`
const run = (command: string, output: string, status = '0') =>
  `${prompt}${command}\r\n${mark('C')}${output}${mark(`D;${status}`)}`

it('records input, output and exit code', async () => {
  await write(run('ls -l', 'one\r\ntwo\r\n') + run('false', '', '1') + prompt)
  const [first, second, third] = log.commands
  expect([log.inputOf(first!), log.outputOf(first!), first!.exitCode]).toEqual(['ls -l', 'one\ntwo', 0])
  expect([log.inputOf(second!), log.outputOf(second!), second!.exitCode]).toEqual(['false', '', 1])
  expect(third?.end).toBeUndefined()
  expect(log.lastEnded).toBe(second)
  expect(changes).toBeGreaterThan(0)
})

it('joins wrapped lines', async () => {
  const long = 'x'.repeat(95)
  await write(run(`echo ${long}`, `${long}\r\nend\r\n`))
  const [command] = log.commands
  expect(log.inputOf(command!)).toBe(`echo ${long}`)
  expect(log.outputOf(command!)).toBe(`${long}\nend`)
})

it('drops commands that scroll out', async () => {
  for (let i = 0; i < 40; i++) await write(run(`echo ${i}`, `${i}\r\n`))
  expect(log.commands.length).toBeLessThan(16)
  expect(log.inputOf(log.commands.at(-1)!)).toBe('echo 39')
})

it('ignores full-screen programs', async () => {
  await write(`${prompt}vim\r\n${mark('C')}\x1b[?1049h${mark('A')}${mark('D;7')}\x1b[?1049l${mark('D;0')}`)
  expect(log.commands).toHaveLength(1)
  expect(log.commands[0]).toMatchObject({ exitCode: 0 })
})

it('restores marks from a snapshot, also in a full-screen program', async () => {
  const text = '$ ls\r\none\r\ntwo\r\n$ vim'
  const marks: TerminalMark[] = [
    { line: 0, column: 0, kind: 'prompt', at_ms: 1 },
    { line: 0, column: 2, kind: 'command', at_ms: 1 },
    { line: 1, column: 0, kind: 'output', at_ms: 1 },
    { line: 3, column: 0, kind: 'end', exit_code: 3, at_ms: 9 },
    { line: 3, column: 0, kind: 'prompt', at_ms: 9 },
    { line: 3, column: 2, kind: 'command', at_ms: 9 },
  ]
  for (const suffix of ['', '\x1b[?1049hfull screen']) {
    open()
    await write(run('gone', 'gone\r\n'))
    await write(`\x1bc${text}${suffix}`)
    log.restore(marks)
    if (suffix) await write('\x1b[?1049l')
    const [ls, vim] = log.commands
    expect([log.inputOf(ls!), log.outputOf(ls!), ls!.exitCode, ls!.endedAtMs]).toEqual(['ls', 'one\ntwo', 3, 9])
    expect(vim?.end).toBeUndefined()
    expect(log.commands).toHaveLength(2)
  }
})
