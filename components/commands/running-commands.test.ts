import { expect, it } from 'vitest'
import { runningCommands } from './running-commands.ts'

const record = (cmd_id: string | null, more: { cmd?: string; exit_code?: number; message?: string }) => ({
  timestamp_ms: 0,
  level: 'info',
  source: 'exec',
  cmd_id,
  ...more,
})

it('tells what began and has not ended, the latest first', () => {
  const log = [
    record('a', { cmd: 'sleep 1' }),
    record('b', { cmd: 'make' }),
    record(null, { message: 'a line of nobody' }),
    record('a', { exit_code: 0 }),
    record('b', { message: 'cc x.c' }),
    record('c', { cmd: 'tail -f log' }),
  ]
  expect(runningCommands(log)).toEqual(['tail -f log', 'make'])
  expect(runningCommands([...log, record('b', { exit_code: 2 })])).toEqual(['tail -f log'])
})
