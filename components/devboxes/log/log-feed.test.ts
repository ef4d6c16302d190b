import { expect, it } from 'vitest'
import type { FollowOptions } from '#lib/browser/live/follow.ts'
import type { LogRecord } from '#lib/contract/logs.ts'
import { LogFeed, logLine, maxRecords } from './log-feed.ts'

const record = (message: string): LogRecord => ({ timestamp_ms: 0, level: 'info', source: 'exec', message })
const messagesOf = (feed: LogFeed) => feed.getSnapshot().records.map(({ message }) => message)
const follow = async (feed: LogFeed) => {
  await feed.follow(new AbortController().signal)
  return feed
}
const followed = (send: (options: FollowOptions<'logs.tail'>) => void) =>
  follow(new LogFeed(async (options) => send(options)))

it('resumes at its position and starts over after a resync', async () => {
  const positions: unknown[] = []
  const feed = await followed(({ position, onItems, onResync }) => {
    positions.push(position)
    if (positions.length === 3) onResync?.('')
    onItems([record(`${positions.length}`)], `after ${positions.length}`)
  })
  await follow(feed)
  expect(messagesOf(feed)).toEqual(['1', '2'])
  expect(feed.getSnapshot()).toMatchObject({ hasEnded: true, error: null, dropped: 0 })
  await follow(feed)
  expect(messagesOf(feed)).toEqual(['3'])
  expect(positions).toEqual([undefined, 'after 1', 'after 2'])
})

it('keeps its records when the log fails', async () => {
  const feed = await followed(({ onItems }) => {
    onItems([record('one')], '1')
    throw new Error('not found')
  })
  expect(messagesOf(feed)).toEqual(['one'])
  expect(feed.getSnapshot()).toMatchObject({ hasEnded: false, error: new Error('not found') })
})

it('keeps the latest records and counts the dropped ones', async () => {
  const feed = await followed(({ onItems }) =>
    onItems(
      Array.from({ length: maxRecords * 2 }, (_, i) => record(String(i))),
      '',
    ),
  )
  expect(feed.getSnapshot().records).toHaveLength(maxRecords)
  expect(feed.getSnapshot().dropped).toBe(maxRecords)
  expect(feed.getSnapshot().records.at(-1)).toMatchObject({
    message: String(maxRecords * 2 - 1),
    number: maxRecords * 2 - 1,
  })
})

it('formats a record as one line', async () => {
  const at = Date.UTC(2026, 0, 2, 3, 4, 5, 6)
  const feed = await followed(({ onItems }) =>
    onItems(
      [
        { timestamp_ms: at, level: 'info', source: 'exec', cmd: 'make', shell_name: 'build' },
        { timestamp_ms: at, level: 'error', source: 'setup_commands', exit_code: 2 },
      ],
      '',
    ),
  )
  expect(feed.getSnapshot().records.map(logLine)).toEqual([
    '2026-01-02T03:04:05.006Z info exec [build] $ make',
    '2026-01-02T03:04:05.006Z error setup_commands exit 2',
  ])
})

it('renders records as a terminal does', async () => {
  const feed = await followed(({ onItems }) =>
    onItems(
      [
        record('\x1b[2K\x1b[1G\x1b[32mbuilt\x1b[0m ok \x1b]8;;https://example.org/x\x07link\x1b]8;;\x07 end\x1b[K'),
        record('Working 100%\r\x1b[?25h'),
        record(Array.from({ length: 3000 }, (_, i) => `\r${i + 1}/3000 [####      ]`).join('')),
        { ...record(''), cmd: "printf '\x1b[31m'", message: null },
      ],
      '',
    ),
  )
  const { records } = feed.getSnapshot()
  expect(records.map(({ text }) => text)).toEqual([
    'built ok link end',
    'Working 100%',
    '3000/3000 [####      ]',
    "$ printf '\x1b[31m'",
  ])
  expect(records[0]?.spans[0]).toEqual({ text: 'built', style: { color: 2 } })
})

it('carries a style over to the next record of the same stream until the command ends', async () => {
  const of = (message: string, change: Partial<LogRecord> = {}) => ({ ...record(message), cmd_id: 'a', ...change })
  const feed = await followed(({ onItems }) =>
    onItems(
      [
        of('\x1b[31mred'),
        of('on stderr', { level: 'warn' }),
        of('of another', { cmd_id: 'b' }),
        of('red\x1b[m plain'),
        of('\x1b[1mbold'),
        of('', { message: null, exit_code: 0 }),
        of('after'),
      ],
      '',
    ),
  )
  expect(feed.getSnapshot().records.map(({ spans }) => spans.map(({ style }) => style))).toEqual([
    [{ color: 1 }],
    [{}],
    [{}],
    [{ color: 1 }, {}],
    [{ bold: true }],
    [{}],
    [{}],
  ])
})
