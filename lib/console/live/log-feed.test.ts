import { expect, it } from 'vitest'
import type { LogRecord } from '#lib/contract/logs.ts'
import { LogFeed, logLine, maxKept } from './log-feed.ts'

const record = (message: string): LogRecord => ({ timestamp_ms: 0, level: 'info', source: 'exec', message })

/** Serves each list as one stream; a list that holds an error breaks there. */
const sourceOf = (...streams: (LogRecord | Error)[][]) => ({
  opened: 0,
  async *open() {
    for (const item of streams[this.opened++] ?? []) {
      if (item instanceof Error) throw item
      yield item
    }
  },
  isLost: (error: unknown) => (error as Error).message === 'gone',
})

const messagesOf = (feed: LogFeed) => feed.getSnapshot().records.map(({ message }) => message)

it('holds what the stream said and that it ended', async () => {
  const feed = new LogFeed(sourceOf([record('one'), record('two')]))
  await feed.follow(new AbortController().signal)
  expect(messagesOf(feed)).toEqual(['one', 'two'])
  expect(feed.getSnapshot()).toMatchObject({ state: 'ended', dropped: 0 })
})

it('reads a broken stream again, which begins anew, and shows nothing twice', async () => {
  const source = sourceOf([record('one'), new Error('cut')], [record('one'), record('two')])
  const feed = new LogFeed(source)
  const states: string[] = []
  feed.subscribe(() => states.push(feed.getSnapshot().state))
  await feed.follow(new AbortController().signal)
  expect(source.opened).toBe(2)
  expect(messagesOf(feed)).toEqual(['one', 'two'])
  expect([...new Set(states)]).toEqual(['reconnecting', 'live', 'ended'])
})

it('stops asking when that cannot help, and says why', async () => {
  const feed = new LogFeed(sourceOf([record('one'), new Error('gone')], [record('never')]))
  await feed.follow(new AbortController().signal)
  expect(messagesOf(feed)).toEqual(['one'])
  expect(feed.getSnapshot()).toMatchObject({ state: 'lost', lost: new Error('gone') })
})

it('keeps the latest records and counts the others', async () => {
  const feed = new LogFeed(sourceOf(Array.from({ length: maxKept * 2 }, (_, i) => record(String(i)))))
  await feed.follow(new AbortController().signal)
  expect(feed.getSnapshot().records).toHaveLength(maxKept)
  expect(feed.getSnapshot().dropped).toBe(maxKept)
  expect(feed.getSnapshot().records.at(-1)).toMatchObject({
    message: String(maxKept * 2 - 1),
    number: maxKept * 2 - 1,
  })
})

it('writes a record as one line', () => {
  const at = Date.UTC(2026, 0, 2, 3, 4, 5, 6)
  expect(logLine({ timestamp_ms: at, level: 'info', source: 'exec', cmd: 'make', shell_name: 'build' })).toBe(
    '2026-01-02T03:04:05.006Z info exec [build] $ make',
  )
  expect(logLine({ timestamp_ms: at, level: 'error', source: 'setup_commands', exit_code: 2 })).toBe(
    '2026-01-02T03:04:05.006Z error setup_commands exit 2',
  )
})
