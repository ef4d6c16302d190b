import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeUnderEachIsolation } from '#lib/service/testing/isolation.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { places } from './cgroup.ts'
import { findProcesses } from './processes.ts'

const limited = places().flatMap(({ controllers }) => controllers)
const hasGroups = (['memory', 'cpu', 'pids'] as const).every((controller) => limited.includes(controller))

const maxAnswerMs = 2000
// tail keeps what it reads until a line ends.
const allocate = "command -v perl >/dev/null && exec perl -e '$all = q(a) x 4e9'; exec tail /dev/zero"

describeUnderEachIsolation('a devbox that takes all it can get, under isolation', (isolation) => {
  let service: TestService
  beforeAll(async () => {
    service = await startService({ isolation })
  })
  afterAll(() => service.close())

  const create = async () => {
    const body = { launch_parameters: { resource_size_request: 'X_SMALL' as const } }
    return (await service.client.devboxes.createAndAwaitRunning({ body })).id
  }
  const executeSync = (id: string, command: string) =>
    service.client.executions.executeSync({ params: { id }, body: { command } })
  const timed = async <T>(act: () => Promise<T>): Promise<[T, number]> => {
    const before = performance.now()
    return [await act(), performance.now() - before]
  }

  it.runIf(hasGroups)('is stopped at its memory; the service does not grow, and the devbox goes on', async () => {
    const id = await create()
    const before = process.memoryUsage.rss()
    const { exit_status } = await executeSync(id, allocate)
    expect(exit_status).toBe(137)
    expect(process.memoryUsage.rss() - before).toBeLessThan(200 * 2 ** 20)
    expect(await executeSync(id, 'echo on')).toMatchObject({ stdout: 'on\n', exit_status: 0 })
    await service.client.devboxes.shutdown({ params: { id } })
  })

  it.runIf(hasGroups)(
    'holds a fork bomb while the service and another devbox answer, and can be shut down',
    async () => {
      const [id, other] = await Promise.all([create(), create()])
      const marked = { DEVDECK_SERVICE_ID: service.serviceId, DEVDECK_DEVBOX_ID: id }
      await service.client.executions.executeAsync({ params: { id }, body: { command: ':(){ :|:& };:' } })
      await expect.poll(() => findProcesses(marked).length, { timeout: 10_000 }).toBeGreaterThan(100)
      for (let round = 0; round < 3; round++) {
        const [health, healthMs] = await timed(() => service.fetch('/healthz'))
        expect(health.status).toBe(200)
        expect(healthMs).toBeLessThan(maxAnswerMs)
        const [executed, executedMs] = await timed(() => executeSync(other, 'echo here'))
        expect(executed.stdout).toBe('here\n')
        expect(executedMs).toBeLessThan(maxAnswerMs)
      }
      const [ended, shutdownMs] = await timed(() => service.client.devboxes.shutdown({ params: { id } }))
      expect(ended.status).toBe('shutdown')
      expect(shutdownMs).toBeLessThan(5000)
      expect(findProcesses(marked)).toEqual([])
      await service.client.devboxes.shutdown({ params: { id: other } })
    },
    60_000,
  )
})
