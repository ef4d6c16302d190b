import { expect, it } from 'vitest'
import type { LogRecord } from '#lib/contract/logs.ts'
import { startService } from '#lib/service/testing/service.ts'
import { ExecutionLog, maxExecutions, runningCommands } from './execution-log.ts'

const record = (change: Partial<LogRecord>): LogRecord => ({
  timestamp_ms: 1,
  level: 'info',
  source: 'exec',
  ...change,
})

const read = async (...batches: Partial<LogRecord>[][]) => {
  const log = new ExecutionLog(async ({ onItems }) => {
    for (const batch of batches) onItems(batch.map(record), '')
  })
  await log.follow(new AbortController().signal)
  return log.getSnapshot()
}

it('merges the records of each execution, newest first', async () => {
  const { executions } = await read(
    [
      { cmd: 'make', cmd_id: 'a', shell_name: 'build', timestamp_ms: 10 },
      { cmd: 'sleep 9', cmd_id: 'b', timestamp_ms: 20 },
      { message: 'compiled', cmd_id: 'a' },
    ],
    [{ exit_code: 2, cmd_id: 'a', timestamp_ms: 30 }],
    [{ exit_code: 0, cmd_id: 'start-not-logged' }],
  )
  expect(executions).toMatchObject([
    { execution_id: 'start-not-logged', command: null, startedMs: null, exit_code: 0 },
    { execution_id: 'b', command: 'sleep 9', exit_code: null, endedMs: null },
    { execution_id: 'a', command: 'make', shell_name: 'build', startedMs: 10, endedMs: 30, exit_code: 2 },
  ])
})

it('counts commands without an id and those over the limit', async () => {
  const many = Array.from({ length: maxExecutions + 3 }, (_, i) => ({ cmd: `echo ${i}`, cmd_id: `e${i}` }))
  const snapshot = await read([{ source: 'setup_commands', cmd: 'apt update' }, { source: 'stats' }], many)
  expect(snapshot).toMatchObject({ unnamed: 1, dropped: 3, hasEnded: true })
  expect(snapshot.executions).toHaveLength(maxExecutions)
  expect(snapshot.executions.at(-1)?.execution_id).toBe('e3')
})

it('lists running commands, newest first', () => {
  const log = [
    { cmd_id: 'a', cmd: 'sleep 1' },
    { cmd_id: 'b', cmd: 'make' },
    { message: 'no command' },
    { cmd_id: 'a', exit_code: 0 },
    { cmd_id: 'c', cmd: 'tail -f log' },
  ].map(record)
  expect(runningCommands(log)).toEqual(['tail -f log', 'make'])
  expect(runningCommands([...log, record({ cmd_id: 'b', exit_code: 2 })])).toEqual(['tail -f log'])
})

it('reads the log of a real service', async () => {
  const service = await startService({ isolation: 'none' })
  const { client: api } = service
  try {
    const { id } = await api.devboxes.createAndAwaitRunning({ body: {} })
    const ran = await api.executions.execute({
      params: { id },
      body: { command: 'echo out; exit 3', shell_name: 'build', optimistic_timeout: 20 },
    })
    const long = `true ${'x'.repeat(9_000)}`
    await api.executions.executeSync({ params: { id }, body: { command: long } })
    const { logs } = await api.logs.list({ params: { id } })
    const { executions } = await read(logs)
    expect(executions).toMatchObject([
      { isCut: true, exit_code: 0 },
      { execution_id: ran.execution_id, command: 'echo out; exit 3', isCut: false, shell_name: 'build', exit_code: 3 },
    ])
  } finally {
    await service.close()
  }
})
