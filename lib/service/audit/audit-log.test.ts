import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { runCommand } from '#lib/service/testing/process.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { type AuditEntry, AuditLog, readAudit } from './audit-log.ts'

let dataDir: string
let service: TestService | undefined
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'devdeck-audit-'))
})
afterEach(async () => {
  await service?.close()
  service = undefined
  rmSync(dataDir, { recursive: true, force: true })
})

const entries = async (sinceMs = Number.NEGATIVE_INFINITY): Promise<AuditEntry[]> => {
  const found: AuditEntry[] = []
  for await (const line of readAudit(dataDir, sinceMs, { name: '', bytes: 0 })) found.push(JSON.parse(line))
  return found
}

it('records each change with its key, subject and status, without bodies, and no read', async () => {
  service = await startService({ isolation: 'none', dataDir })
  const { client, post } = service
  const created = await client.keys.create({ body: { name: 'the CI' } })
  const byName = { authorization: `Bearer ${created.key_secret}`, 'x-request-id': 'ci-1' }
  await post('/v1/secrets', { name: 'TOKEN', value: 'hidden-value' }, byName)
  const id = await service.devbox({ environment_variables: { PASSWORD: 'hidden-value' } })
  const body = { command: 'echo hidden-value > file' }
  const { execution_id } = await client.executions.executeAsync({ params: { id }, body })
  await post(`/v1/devboxes/${id}/executions/${execution_id}/wait_for_status`, { statuses: ['completed'] })
  await post(`/v1/devboxes/${id}/read_file_contents`, { file_path: 'file' })
  await client.devboxes.list()
  expect((await post('/v1/devboxes/dbx_none/shutdown')).status).toBe(404)
  const found = await entries()
  expect(found.map(({ operation, key_name, status }) => [operation, key_name, status])).toEqual([
    ['keys.create', null, 200],
    ['secrets.create', 'the CI', 200],
    ['devboxes.createAndAwaitRunning', null, 200],
    ['executions.executeAsync', null, 200],
    ['devboxes.shutdown', null, 404],
  ])
  expect(found[0]).toMatchObject({ account: 'test', subject: created.id, address: '127.0.0.1' })
  expect(found[1]).toMatchObject({ key_id: created.id, request_id: 'ci-1', subject: expect.stringMatching(/^\w+$/) })
  expect(found[2]?.subject).toBe(id)
  expect(found[3]?.subject).toBe(`${id}/${execution_id}`)
  expect(found[4]?.subject).toBe('dbx_none')
  expect(JSON.stringify(found)).not.toMatch(/hidden-value|ak_/)
})

it('is printed by the command line, also while it grows', async () => {
  service = await startService({ isolation: 'none', dataDir })
  await service.client.axons.create({ body: { name: 'first' } })
  const printed = async (...flags: string[]) =>
    (await runCommand(['audit', '--data-dir', dataDir, ...flags]).ended).stdout
  expect(await printed()).toMatch(/^\{"time":.*"operation":"axons\.create".*\}\n$/)
  expect(await printed('--since', '1h')).toContain('axons.create')
  expect(await printed('--since', '2999-01-01')).toBe('')
  const following = runCommand(['audit', '--data-dir', dataDir, '--follow'])
  const lines = () => following.output.stdout.split('\n').length - 1
  await expect.poll(lines, { interval: 20, timeout: 10_000 }).toBe(1)
  await service.client.axons.create({ body: { name: 'second' } })
  await expect.poll(lines, { interval: 20, timeout: 10_000 }).toBe(2)
  following.child.kill('SIGTERM')
  await following.ended
})

it('records a prune, but no dry run', async () => {
  service = await startService({ isolation: 'none', dataDir })
  const prune = (...flags: string[]) => runCommand(['prune', '--data-dir', dataDir, ...flags]).ended
  expect((await prune('--dry-run')).stdout).toMatch(/^Would delete/)
  expect((await prune('--older-than', '7d')).stdout).toMatch(/^Deleted/)
  expect((await entries()).map(({ operation }) => operation)).toEqual(['storage.prune'])
})

it('keeps 90 days, in a file per day', async () => {
  let now = Date.parse('2026-01-01T12:00:00Z')
  const log = new AuditLog(dataDir, () => now)
  const change = { account: 'a', key_id: null, key_name: null, operation: 'axons.create', subject: 'axn_1' }
  for (const day of [0, 1, 90, 91]) {
    now = Date.parse('2026-01-01T12:00:00Z') + day * 24 * 60 * 60 * 1000
    log.record({ ...change, status: 200, address: '127.0.0.1', request_id: `day-${day}` })
  }
  log.close()
  expect(readdirSync(join(dataDir, 'audit'))).toEqual(['2026-01-02.jsonl', '2026-04-01.jsonl', '2026-04-02.jsonl'])
  expect((await entries(Date.parse('2026-04-01T12:00:00Z'))).map((each) => each.request_id)).toEqual([
    'day-90',
    'day-91',
  ])
})
