import { expect, it } from 'vitest'
import type { LogRecord } from '#lib/contract/logs.ts'
import { markAsFilesTab } from '#lib/protocol/files-tab-mark.ts'
import { commandsRunningAt } from './interrupted-work.ts'

const record = (cmd_id: string, timestamp_ms: number, change: Partial<LogRecord>): LogRecord => ({
  timestamp_ms,
  level: 'info',
  source: 'exec',
  cmd_id,
  ...change,
})

it('counts the commands that ran at the deadline, not those that ended before or started after a resume', () => {
  const log = [
    record('done', 10, { cmd: 'make' }),
    record('done', 99, { exit_code: 0 }),
    record('killed', 20, { cmd: 'train' }),
    record('killed', 101, { exit_code: 137 }),
    record('no exit logged', 30, { cmd: 'sleep 1d' }),
    record('listing', 40, { cmd: markAsFilesTab('ls') }),
    record('resumed', 500, { cmd: 'train' }),
  ]
  expect(commandsRunningAt(log, { deadline_ms: 100, stopped_ms: 103 })).toBe(2)
  expect(commandsRunningAt(log, { deadline_ms: 102, stopped_ms: 103 })).toBe(1)
})
