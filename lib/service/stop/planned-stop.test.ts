import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeScenario, runReaches, script, startRun } from '#lib/service/testing/scenarios.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { isInUse } from './planned-stop.ts'

let service: TestService
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

const stop = (path: string) => {
  const authorization = `Bearer ${readFileSync(join(service.dataDir, 'operator-token'), 'utf8').trim()}`
  return service.post(path, { wait_seconds: 600 }, { authorization })
}

test('work whose request arrives completely after the stop was planned is rejected', async () => {
  const bytes = new TransformStream<Uint8Array, Uint8Array>()
  const writer = bytes.writable.getWriter()
  const headers = { 'content-type': 'application/json' }
  const init = { method: 'POST', headers, body: bytes.readable, duplex: 'half' } as const
  const created = service.fetch('/v1/devboxes', init)
  await writer.write(Buffer.from('{'))
  await service.client.accounts.me()
  await stop('/local/stop')
  await writer.write(Buffer.from('}'))
  await writer.close()
  expect((await created).status).toBe(503)
  await stop('/local/stop/cancel')
})

test('a shell is in use while a program runs in it, and for five minutes after the last input', () => {
  const nowMs = 1_000_000_000
  const minute = 60_000
  expect(isInUse({ program: undefined, lastInputMs: undefined }, nowMs)).toBe(false)
  expect(isInUse({ program: 'vim', lastInputMs: undefined }, nowMs)).toBe(true)
  expect(isInUse({ program: undefined, lastInputMs: nowMs - 4 * minute }, nowMs)).toBe(true)
  expect(isInUse({ program: undefined, lastInputMs: nowMs - 5 * minute }, nowMs)).toBe(false)
})

test('a run without a job that is being scored is work, and so are commands in its devbox before that', async () => {
  const { client } = service
  const planned = async () => (await client.drain.state()).stop
  const scenario = await makeScenario(service, script('until [ -e ~/go ]; do sleep 0.02; done; echo score=1'))
  const { id, devboxId } = await startRun(service, scenario)
  const params = { id: devboxId }
  const { execution_id } = await client.executions.executeAsync({ params, body: { command: 'sleep 1000' } })
  await stop('/local/stop')
  expect(await planned()).toMatchObject({ commands: 1, scorings: 0, running: [{ kind: 'command', id: execution_id }] })
  await client.scenarioRuns.score({ params: { id } })
  expect(await planned()).toMatchObject({
    commands: 0,
    scorings: 1,
    running: [{ kind: 'scoring', id, name: 'a scenario', devbox_id: devboxId }],
  })
  expect(await (await stop('/local/stop/cancel')).json()).toEqual({ canceled: true })
  expect(await planned()).toBeNull()
  await client.files.write({ params, body: { file_path: 'go', contents: '' } })
  expect(await runReaches(service, id, 'scored')).toMatchObject({ state: 'scored' })
})
