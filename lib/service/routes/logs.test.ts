import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LogRecord } from '#lib/contract/logs.ts'
import { strongestIsolation } from '#lib/service/testing/isolation.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'

describe('logs', () => {
  let service: TestService
  let id: string
  beforeAll(async () => {
    service = await startService({ isolation: strongestIsolation })
    id = await service.devbox()
  })
  afterAll(() => service.close())

  const run = (command: string, shell_name?: string) =>
    service.client.executions.execute({ params: { id }, body: { command, ...(shell_name ? { shell_name } : {}) } })
  const list = async (query = {}, devbox = id) =>
    (await service.client.logs.list({ params: { id: devbox }, query })).logs
  const tail = (devbox: string, query = {}) => service.client.logs.tail({ params: { id: devbox }, query })
  const summary = ({ cmd, message, exit_code }: LogRecord) => cmd ?? message ?? exit_code

  it('contain commands, their output and exit codes, and can be filtered', async () => {
    const { execution_id } = await run('echo out; echo err >&2; exit 3', 'main')
    const records = await list({ execution_id })
    expect(records.map(summary).toSorted()).toEqual([3, 'echo out; echo err >&2; exit 3', 'err', 'out'])
    expect(records.at(0)?.cmd).toBeDefined()
    expect(records.at(-1)?.exit_code).toBe(3)
    for (const record of records)
      expect(record).toMatchObject({ source: 'exec', cmd_id: execution_id, shell_name: 'main' })
    expect((await list({ shell_name: 'main' })).map(({ cmd_id }) => cmd_id)).toEqual(records.map(() => execution_id))
    expect(await list({ shell_name: 'other' })).toEqual([])
    // The public client sends an empty value for null.
    const unfiltered = await list()
    expect((await list({ execution_id: '', shell_name: '' })).slice(0, unfiltered.length)).toEqual(unfiltered)
  })

  it('contain resource usage', async () => {
    for await (const { source, message, level } of tail(id)) {
      if (source !== 'stats') continue
      expect(level).toBe('info')
      expect(message).toMatch(/^\d+ process(es)?, \d+ MiB of memory, \d+\.\d\d s of CPU.*, \d+ MiB of disk free$/)
      break
    }
  })

  it('stream from the first record to the end of the devbox, and remain after it', async () => {
    const { id: other } = await service.client.devboxes.createAndAwaitRunning({ body: {} })
    const execute = (command: string) =>
      service.client.executions.executeAsync({ params: { id: other }, body: { command } })
    await execute('echo before')
    const seen: LogRecord[] = []
    for await (const record of tail(other)) {
      seen.push(record)
      // Not on its output: the first command might end after the second.
      if (summary(record) === 0) await execute('echo during; sleep 1000')
      if (record.message === 'during') void service.client.devboxes.shutdown({ params: { id: other } })
    }
    const ofCommands = seen.filter(({ source }) => source === 'exec').map(summary)
    expect(ofCommands.filter((what) => what === 'before' || what === 'during')).toEqual(['before', 'during'])
    expect(ofCommands.slice(-2)).toEqual(['devdeck: the devbox was stopped; the command was killed', 137])
    expect(await list({}, other)).toEqual(seen)
    const again: LogRecord[] = []
    for await (const record of tail(other)) again.push(record)
    expect(again).toEqual(seen)
  })

  it('continue after a suspension', async () => {
    const { id: other } = await service.client.devboxes.createAndAwaitRunning({ body: {} })
    const params = { id: other }
    let resumed: Promise<unknown> | undefined
    const resume = async () => {
      await service.client.devboxes.suspend({ params })
      await service.client.devboxes.waitForStatus({ params, body: { statuses: ['suspended'] } })
      await service.client.devboxes.resume({ params })
      await service.client.devboxes.waitForStatus({ params, body: { statuses: ['running'] } })
      await service.client.executions.executeAsync({ params, body: { command: 'echo after' } })
    }
    await service.client.executions.executeAsync({ params, body: { command: 'echo before' } })
    const seen: unknown[] = []
    for await (const { message } of tail(other)) {
      seen.push(message)
      if (message === 'before') resumed = resume()
      if (message === 'after') break
    }
    await resumed
    expect(seen).toContain('after')
  })
})
