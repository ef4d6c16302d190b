import { expect, it } from 'vitest'
import type { LogRecord } from '#lib/contract/logs.ts'
import type { FollowOptions } from './follow.ts'
import { LogFeed, logLine, maxKept } from './log-feed.ts'

const record = (message: string): LogRecord => ({ timestamp_ms: 0, level: 'info', source: 'exec', message })
const messagesOf = (feed: LogFeed) => feed.getSnapshot().records.map(({ message }) => message)
const followed = async (tell: (options: FollowOptions<'logs.tail'>) => void, feed?: LogFeed) => {
  const made = feed ?? new LogFeed(async (options) => tell(options))
  await made.follow(new AbortController().signal)
  return made
}

it('holds what was told and that it has ended', async () => {
  const feed = await followed(({ onItems }) => {
    onItems([record('one')], '1')
    onItems([record('two')], '2')
  })
  expect(messagesOf(feed)).toEqual(['one', 'two'])
  expect(feed.getSnapshot()).toMatchObject({ hasEnded: true, lost: null, dropped: 0 })
})

it('goes on where it was when it is looked at again, and begins anew when told to', async () => {
  const positions: unknown[] = []
  const feed = await followed(({ position, onItems, onResync }) => {
    positions.push(position)
    if (positions.length === 3) onResync?.('')
    onItems([record(`${positions.length}`)], `after ${positions.length}`)
  })
  await followed(() => undefined, feed)
  expect(messagesOf(feed)).toEqual(['1', '2'])
  await followed(() => undefined, feed)
  expect(messagesOf(feed)).toEqual(['3'])
  expect(positions).toEqual([undefined, 'after 1', 'after 2'])
})

it('says why it can no longer be followed, and keeps what it has', async () => {
  const feed = await followed(({ onItems }) => {
    onItems([record('one')], '1')
    throw new Error('gone')
  })
  expect(messagesOf(feed)).toEqual(['one'])
  expect(feed.getSnapshot()).toMatchObject({ hasEnded: false, lost: new Error('gone') })
})

it('keeps the latest records and counts the others', async () => {
  const feed = await followed(({ onItems }) =>
    onItems(
      Array.from({ length: maxKept * 2 }, (_, i) => record(String(i))),
      '',
    ),
  )
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
