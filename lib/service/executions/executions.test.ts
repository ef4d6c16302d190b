import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { defaultLimits } from '#lib/service/config.ts'
import { startPlainProcess } from '#lib/service/engine/process/plain-process.ts'
import { openDatabase } from '#lib/service/store/database.ts'
import { createExecutionStore } from '#lib/service/store/executions.ts'
import { DevboxLogs } from '#lib/service/store/logs/logs.ts'
import { StorageQuota } from '#lib/service/store/storage-quota.ts'
import { makeLocalSpec } from '#lib/service/testing/boxes.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { Executions } from './executions.ts'

const slowEventLoop = async (ms: number): Promise<() => void> => {
  const never = new Int32Array(new SharedArrayBuffer(4))
  const server = createServer((socket) => socket.on('error', () => undefined).pipe(socket)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('data', (chunk) => {
    Atomics.wait(never, 0, 0, ms)
    socket.write(chunk)
  })
  socket.write('again')
  return () => {
    socket.destroy()
    server.close()
  }
}

describe('launching', () => {
  let service: TestService
  let id: string
  beforeAll(async () => {
    service = await startService({ isolation: 'none' })
    id = (await service.client.devboxes.createAndAwaitRunning({ body: {} })).id
  })
  afterAll(() => service.close())

  const post = async (operation: string, body: object, requestId?: string) => {
    const response = await service.fetch(`/v1/devboxes/${id}/${operation}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(requestId ? { 'x-request-id': requestId } : {}) },
      body: JSON.stringify(body),
    })
    return (await response.json()) as { execution_id: string; stdout: string; status: string }
  }
  const linesOf = async (file: string) =>
    (await post('execute_sync', { command: `cat ${file}` })).stdout.split('\n').length - 1

  // A busy service used to process exits before output and drop the output.
  it('keeps all output if the service is busy when commands end', async () => {
    const stopSlowing = await slowEventLoop(200)
    try {
      // Staggered, so that exits arrive while others are being handled.
      const pauses = Array.from({ length: 60 }, (_, number) => String(number / 50))
      const responses = await Promise.all(
        pauses.map((pause) => post('execute_sync', { command: `sleep ${pause}; echo ${pause}` })),
      )
      expect(responses.map(({ stdout }) => stdout.trim())).toEqual(pauses)
    } finally {
      stopSlowing()
    }
  })

  it('runs a command once per request id', async () => {
    const command = 'echo x >> ~/same-request; sleep 0.1; echo done'
    const first = await Promise.all(
      Array.from({ length: 4 }, () => post('execute_sync', { command }, 'stainless-node-retry-1')),
    )
    expect(first.map(({ stdout }) => stdout)).toEqual(Array.from({ length: 4 }, () => 'done\n'))
    const asynchronous = await post('execute_async', { command }, 'stainless-node-retry-1')
    expect(asynchronous.status).toBe('completed')
    expect(await linesOf('~/same-request')).toBe(1)
    await post('execute_sync', { command: `${command} ` }, 'stainless-node-retry-1')
    await post('execute_sync', { command }, 'stainless-node-retry-2')
    await post('execute_sync', { command })
    await post('execute_sync', { command })
    expect(await linesOf('~/same-request')).toBe(5)
  })

  it('recognizes repeated commands and requests after a restart', async () => {
    const named = { command: 'echo x >> ~/restarted', command_id: '01990000-0000-7000-8000-000000000003' }
    await post('execute', named)
    const { execution_id } = await post('execute_async', { command: 'echo x >> ~/restarted; true' }, 'before-restart')
    await service.client.executions.waitForStatus({
      params: { devbox_id: id, execution_id },
      body: { statuses: ['completed'] },
    })
    await service.restart()
    expect(await post('execute', named)).toMatchObject({ execution_id: named.command_id, status: 'completed' })
    expect(
      (await post('execute_async', { command: 'echo x >> ~/restarted; true' }, 'before-restart')).execution_id,
    ).toBe(execution_id)
    await service.client.devboxes.waitForStatus({ params: { id }, body: { statuses: ['running'] } })
    expect(await linesOf('~/restarted')).toBe(2)
  })
})

it('limits unfinished commands per account', async () => {
  const service = await startService({ isolation: 'none', limits: { ...defaultLimits, executions: 2 } })
  try {
    const { id } = await service.client.devboxes.createAndAwaitRunning({ body: {} })
    const start = () => service.client.executions.executeAsync({ params: { id }, body: { command: 'sleep 1000' } })
    const [first] = await Promise.all([start(), start()])
    const response = await service.fetch(`/v1/devboxes/${id}/execute_async`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ command: 'true' }),
    })
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '5'])
    const other = await service.otherClient.devboxes.createAndAwaitRunning({ body: {} })
    const theirs = { params: { id: other.id }, body: { command: 'echo theirs' } }
    expect((await service.otherClient.executions.execute(theirs)).stdout).toBe('theirs\n')
    await service.client.executions.kill({ params: { devbox_id: id, execution_id: first.execution_id } })
    await start()
  } finally {
    await service.close()
  }
})

it('refuses a named shell in a devbox without bash', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'devdeck-executions-'))
  const folderOf = (id: string) => join(folder, id)
  const database = openDatabase(join(folder, 'test.db'))
  const box = await startPlainProcess(makeLocalSpec(folder, { devboxId: 'one', serviceId: `shells-${process.pid}` }))
  onTestFinished(async () => {
    await box.stop()
    database.close()
    rmSync(folder, { recursive: true })
  })
  const executions = new Executions({
    store: createExecutionStore(database),
    folderOf,
    logs: new DevboxLogs(folderOf),
    maxPerAccount: 1,
    quota: new StorageQuota(0),
  })
  const devbox = () => ({ box: { ...box, shell: '/bin/sh', bashrc: undefined }, env: {}, busy: () => () => undefined })
  const launch = { account: 'test', command: 'true', shellName: 'build' }
  expect(() => executions.launch('one', devbox, launch)).toThrow(/^shell_name: named shells require bash/)
})
