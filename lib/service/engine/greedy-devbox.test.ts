import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeUnderEachIsolation } from '#lib/service/testing/isolation.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { places } from './cgroup.ts'
import { findProcesses } from './processes.ts'

const limited = places().flatMap(({ controllers }) => controllers)
const hasGroups = (['memory', 'cpu', 'pids'] as const).every((controller) => limited.includes(controller))

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

  it.runIf(hasGroups)('is stopped at its memory, and goes on', async () => {
    const id = await create()
    const { exit_status } = await executeSync(id, allocate)
    expect(exit_status).toBe(137)
    expect(await executeSync(id, 'echo on')).toMatchObject({ stdout: 'on\n', exit_status: 0 })
    await service.client.devboxes.shutdown({ params: { id } })
  })

  it.runIf(hasGroups)(
    'holds a fork bomb while the service and another devbox answer, and can be shut down',
    async () => {
      const [id, other] = await Promise.all([create(), create()])
      const marked = { DEVDECK_SERVICE_ID: service.serviceId, DEVDECK_DEVBOX_ID: id }
      await service.client.executions.executeAsync({ params: { id }, body: { command: ':(){ :|:& };:' } })
      await expect.poll(() => findProcesses(marked).length).toBeGreaterThan(100)
      for (let round = 0; round < 3; round++) {
        expect((await service.fetch('/healthz')).status).toBe(200)
        expect((await executeSync(other, 'echo here')).stdout).toBe('here\n')
      }
      expect((await service.client.devboxes.shutdown({ params: { id } })).status).toBe('shutdown')
      expect(findProcesses(marked)).toEqual([])
      await service.client.devboxes.shutdown({ params: { id: other } })
    },
  )
})
